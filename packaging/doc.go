// Package packaging tests what kproxy is delivered with: units of systemd, the packages'
// contents, the image, the compose file and the manifests for Kubernetes. They are read as
// they are and compared with each other; packaging/try.sh installs and runs them.
package packaging
