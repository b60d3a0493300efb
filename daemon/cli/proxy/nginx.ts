import type { Site, Sites } from './sites.ts'
import { IDLE_SECONDS } from './sites.ts'

/** A file of conf.d. nginx would buffer streams, hold uploads back, and refuse bodies above 1 MiB. */
export function printNginx({ api, apps }: Sites): string {
  const sites = [
    site('keyhook_api', api),
    ...(apps === undefined ? [] : [site('keyhook_apps', apps)]),
  ]
  return `# nginx in front of Keyhook: a file of /etc/nginx/conf.d.\n\n${sites.join('\n')}`
}

function site(name: string, { name: host, port, certificate, upstreams }: Site): string {
  const tls = certificate === undefined ? '' : ' ssl http2'
  return `upstream ${name} {
${upstreams.map((one) => `    server ${one} max_fails=1 fail_timeout=2s;\n`).join('')}    keepalive 64;
    keepalive_timeout ${IDLE_SECONDS}s;
}

server {
    listen ${port}${tls};
    listen [::]:${port}${tls};
    server_name ${host};
${certificate === undefined ? '' : `    ssl_certificate ${certificate.chain};\n    ssl_certificate_key ${certificate.key};\n`}
    # The daemon bounds every body, and answers in its own form.
    client_max_body_size 0;

    location / {
        proxy_pass http://${name};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        # Not appended: what a client says of itself is not passed on.
        proxy_set_header X-Forwarded-For $remote_addr;
        # Uploads and streams pass as they arrive; a stream may say nothing for long.
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_read_timeout 1h;
        proxy_send_timeout 1h;
    }
}
`
}
