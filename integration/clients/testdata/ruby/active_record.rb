# Active Record: models, relations, transactions, prepared statements, and what it asks the catalogs.
$stdout.sync = true
require 'active_record'
require 'stringio'

ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: 'localhost', port: ENV['PGPORT'], username: ENV['PGUSER'], password: ENV['PGPASSWORD'], database: ENV['PGDATABASE'],
  sslmode: 'verify-full', sslrootcert: ENV['PGSSLROOTCERT'], pool: 4, min_messages: 'warning', application_name: 'work'
)

class Ward < ActiveRecord::Base
  self.primary_key = 'ward'
end

class Patient < ActiveRecord::Base
  self.primary_key = 'visit'
  # A view has no keys, so that a relation says what belongs together.
  belongs_to :place_of, class_name: 'Ward', foreign_key: 'small', primary_key: 'beds', optional: true
end

class Ward
  has_many :patients, foreign_key: 'small', primary_key: 'beds'
end

def step(name)
  text = yield.inspect
rescue StandardError => e
  state = e.cause.respond_to?(:result) && e.cause.result ? e.cause.result.error_field(PG::Result::PG_DIAG_SQLSTATE) : nil
  text = "ERROR #{e.class} #{state} #{e.message}"
ensure
  puts "#{name}: #{text.gsub("\n", '\\n')}"
end

connection = ActiveRecord::Base.connection
step('version') { connection.database_version / 10_000 }
step('all') { Ward.order(:ward).map(&:attributes) }
step('find') { [Ward.find('surgery').beds, Patient.find(3).attributes.slice('visit', 'title', 'cost', 'admitted', 'tags', 'details', 'mood', 'raw', 'day')] }
step('missing') { Ward.find('nothing') }
step('where') { Patient.where(diagnosis: %w[I10 J18], visit: 100..200).where('cost > ?', 4000).where.not(alive: nil).order(visit: :desc).limit(5).pluck(:visit, :cost, :diagnosis) }
step('or') { Patient.where(visit: 3).or(Patient.where(mood: 'good', visit: 1..9)).order(:visit).ids }
step('grouped') { Patient.group(:diagnosis).order(:diagnosis).having('count(*) > 10').count }
step('aggregates') { [Patient.count, Patient.distinct.count(:diagnosis), Patient.sum(:cost), Patient.average(:visit), Patient.maximum(:admitted), Patient.minimum(:day)] }
step('exists') { [Patient.exists?(visit: 3), Patient.where(visit: -1).none?, Ward.any?] }
step('includes') { Ward.includes(:patients).order(:ward).map { |w| [w.ward, w.patients.map(&:visit)] } }
step('joins') { Patient.joins(:place_of).order(:visit).pluck(:visit, 'wards.ward') }
step('eager') { Patient.eager_load(:place_of).where.not(wards: { ward: nil }).order(:visit).map { |p| [p.visit, p.place_of.ward] } }
step('find each') { sum = 0; Patient.find_each(batch_size: 70) { |p| sum += p.visit }; sum }
step('in batches') { Patient.in_batches(of: 200).map(&:count) }
step('pages') { Patient.order(:visit).offset(100).limit(3).pluck(:visit) }
step('repeated') { (1..12).map { |visit| Patient.where(visit: visit).pick(:title) } }
step('select all') { connection.select_all('SELECT visit, cost, span, years, home FROM patients WHERE visit IN (3, 4) ORDER BY visit').to_a }
step('bound') { connection.exec_query('SELECT count(*) FROM patients WHERE visit > $1', 'SQL', [ActiveRecord::Relation::QueryAttribute.new('visit', 400, ActiveRecord::Type::Integer.new)]).rows }
step('explained') { Patient.where(visit: 3).explain.lines.first }
step('transaction') { Patient.transaction(isolation: :repeatable_read) { [Patient.count, Ward.count, connection.open_transactions] } }
step('savepoint') do
  Patient.transaction do
    failed = begin
      Patient.transaction(requires_new: true) { connection.execute('SELECT nothing FROM patients') }
    rescue ActiveRecord::StatementInvalid => e
      e.message.lines.first.strip
    end
    [failed, Patient.count]
  end
end
step('rollback') { Patient.transaction { Patient.count; raise ActiveRecord::Rollback } }
step('division') { connection.execute('SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p') }
step('write') { Ward.create!(ward: 'new', beds: 1) }
step('delete') { Ward.where(ward: 'x').delete_all }
step('goes on') { Ward.count }
step('canceled') do
  connection.execute("SET statement_timeout = '200ms'")
  connection.execute('SELECT count(*) FROM generate_series(1, 100000000000)')
end
step('after that') { connection.execute('RESET statement_timeout'); Ward.count }
step('settings') { [connection.schema_search_path, connection.encoding, connection.collation.nil?, connection.current_database, connection.client_min_messages, connection.max_identifier_length] }
step('schema') { [connection.current_schema, connection.schema_exists?(connection.current_schema), connection.schema_names.include?('public')] }
step('tables') { [connection.data_source_exists?('patients'), connection.data_source_exists?('nobody'), (connection.tables + connection.views) & %w[patients wards]] }
step('columns') { connection.columns('patients').map { |c| [c.name, c.sql_type, c.null, c.default, c.comment.nil?] } }
step('columns of wards') { connection.columns('wards').map { |c| [c.name, c.sql_type, c.null] } }
step('keys') { [connection.primary_key('wards'), connection.indexes('wards').map(&:name), connection.foreign_keys('wards')] }
step('extensions') { connection.extensions.include?('plpgsql') }
step('enums') { connection.select_values('SELECT enumlabel FROM pg_enum ORDER BY enumsortorder').first(3) }
step('dumped') do
  output = StringIO.new
  ActiveRecord::SchemaDumper.dump(connection, output)
  output.string.lines.grep(/create_table|t\.|enable_extension/).map(&:strip)
end
# A release that is made anew has other columns for a statement that is prepared: Active Record prepares it again.
step('cleared') { connection.clear_cache!; Patient.where(visit: 3).pick(:title) }
step('prepared elsewhere') { connection.raw_connection.exec('DEALLOCATE ALL'); Patient.where(visit: 4).pick(:title) }
step('reconnected') { connection.reconnect!; [connection.active?, Ward.count] }
step('reset') { connection.reset!; Ward.count }
step('advisory lock') { [connection.get_advisory_lock(7), connection.release_advisory_lock(7)] }
