# kproxy as an image: one static program, its example, and certificates of authorities.
#
#   docker build -t kproxy .
#   docker run -v /etc/kproxy:/etc/kproxy:ro -p 127.0.0.1:6432:6432 kproxy
#
# The configuration must listen on all interfaces of the container: listen: ":6432".
#
# Base images are named by tag, which brings their security updates and changes their
# digests. To build from digests that you have looked up:
#
#   docker build -t kproxy \
#     --build-context golang:1.26-bookworm=docker-image://golang@sha256:... \
#     --build-context gcr.io/distroless/static-debian12:nonroot=docker-image://gcr.io/distroless/static-debian12@sha256:... .

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Static, as in packaging/release.sh: the image has no C library.
RUN CGO_ENABLED=1 go build -trimpath -buildvcs=auto -tags netgo,osusergo \
    -ldflags '-s -w -linkmode external -extldflags -static' -o /out/kproxy ./cmd/kproxy
# What is linked in may be passed on with its licenses only.
RUN packaging/sbom.sh /out/kproxy /out/third-party-licenses.txt >/out/kproxy.cdx.json

FROM gcr.io/distroless/static-debian12:nonroot
LABEL org.opencontainers.image.title="kproxy" \
      org.opencontainers.image.description="PostgreSQL proxy that publishes k-anonymous live views of tables" \
      org.opencontainers.image.source="https://github.com/kproxy/kproxy" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/kproxy /usr/bin/kproxy
COPY config.example.yaml LICENSE /usr/share/doc/kproxy/
COPY --from=build /out/third-party-licenses.txt /out/kproxy.cdx.json /usr/share/doc/kproxy/
# By number, so that Kubernetes can see that it is not root.
USER 65532:65532
ENV KPROXY_CONFIG=/etc/kproxy/kproxy.yaml
EXPOSE 6432
STOPSIGNAL SIGTERM
# The first start creates the releases, which takes longer the larger the tables are.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m CMD ["/usr/bin/kproxy", "health"]
ENTRYPOINT ["/usr/bin/kproxy"]
CMD ["serve"]
