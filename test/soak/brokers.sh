#!/bin/sh
# RabbitMQ and Redis as Debian packages them; nothing comes from elsewhere, and neither is started.
set -eu
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && command -v redis-server > /dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo 'As root on Debian the packages "rabbitmq-server" and "redis-server" are installed here; else install them.' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo 'Installing the packages "rabbitmq-server" and "redis-server".' >&2
# Packages of Debian start their services unless a policy says otherwise.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
# A fresh machine has no lists of packages, an old one such as name versions that are gone.
apt-get install -qq -y --no-install-recommends rabbitmq-server redis-server > /dev/null 2>&1 || {
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends rabbitmq-server redis-server > /dev/null
} || {
  echo 'The packages could not be installed.' >&2
  exit 1
}
