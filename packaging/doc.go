// Package packaging tests what kproxy is delivered with: systemd units, contents of the
// packages, the image, the compose file and the manifests for Kubernetes. It reads the files
// and compares them with each other; packaging/try.sh installs and runs them.
package packaging
