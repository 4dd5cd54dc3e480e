import { connection } from './report.mjs'

export default { dialect: 'postgresql', out: `./${process.env.OUT}`, dbCredentials: connection }
