#!/bin/sh
# Debian's builder of images, proxies, PostgreSQL with its programs, shells, languages, and what checks units and rules;
# nothing comes from elsewhere, and no service is started.
set -eu
packages='buildah caddy nginx-light postgresql prometheus strace systemd zsh fish ruby puma php-cli sqlite3'
has() {
  command -v "$1" > /dev/null || [ -x "/usr/sbin/$1" ] || ls /usr/lib/postgresql/*/bin/"$1" > /dev/null 2>&1
}
missing=''
for program in buildah caddy nginx postgres promtool strace systemd-analyze zsh fish ruby puma php sqlite3; do
  has "$program" || missing="$missing $program"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo "Missing:$missing. As root on Debian the packages $packages are installed here; else install them." >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "Installing the packages $packages." >&2
# Packages of Debian start their services unless a policy says otherwise.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
# A fresh machine has no lists of packages, an old one such as name versions that are gone.
# shellcheck disable=SC2086 # a list
apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends $packages > /dev/null 2>&1 || {
  apt-get update -qq
  apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends $packages > /dev/null
} || {
  echo 'The packages could not be installed.' >&2
  exit 1
}
