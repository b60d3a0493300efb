#!/bin/sh
# Chromium as Debian packages it; nothing comes from elsewhere.
set -eu
command -v chromium > /dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo 'Chromium is not in PATH. As root on Debian it is installed here; else install the package "chromium".' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo 'Installing the package "chromium".' >&2
# A fresh machine has no lists of packages, an old one such as name versions that are gone.
apt-get install -qq -y --no-install-recommends chromium > /dev/null 2>&1 || {
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends chromium > /dev/null
} || {
  echo 'The package "chromium" could not be installed.' >&2
  exit 1
}
