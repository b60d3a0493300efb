import type { RefusalReason } from '../../../lib/egress/url.ts'
import type { Row } from '../table.ts'

const PUBLIC = '8.8.8.8'
const PUBLIC_V6 = '2606:4700::1111'

/** A target with what its name resolves to, and what becomes of it. */
export interface Target {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly dns: readonly string[]
  readonly verdict: 'accepted' | RefusalReason
}

type Line = readonly [
  id: string,
  title: string,
  url: string,
  dns: readonly string[],
  verdict: 'accepted' | RefusalReason,
]

const LINES: readonly Line[] = [
  ['S01', 'plain', 'https://hooks.example.com/in', [PUBLIC], 'accepted'],
  ['S02', 'dual stack', 'https://hooks.example.com/in', [PUBLIC, PUBLIC_V6], 'accepted'],
  ['S03', 'public literal', 'http://8.8.8.8/in', [], 'accepted'],
  ['S04', 'public v6 literal', 'https://[2606:4700::1111]/in', [], 'accepted'],
  ['S05', 'port from 1024', 'https://hooks.example.com:8443/in', [PUBLIC], 'accepted'],
  ['S06', 'trailing dot', 'https://hooks.example.com./in', [PUBLIC], 'accepted'],
  ['S07', 'IDN', 'https://bücher.example.com/in', [PUBLIC], 'accepted'],
  ['S08', 'loopback', 'http://127.0.0.1/', [], 'address_loopback'],
  ['S09', 'whole /8', 'http://127.255.255.254/', [], 'address_loopback'],
  ['S10', 'this host', 'http://0.0.0.0/', [], 'address_unspecified'],
  ['S11', 'canonical 0.0.0.0', 'http://0/', [], 'address_unspecified'],
  ['S12', '10/8', 'http://10.0.0.1/', [], 'address_private'],
  ['S13', '172.16/12', 'http://172.16.0.1/', [], 'address_private'],
  ['S14', 'just outside /12', 'http://172.32.0.1/', [], 'accepted'],
  ['S15', '192.168/16', 'http://192.168.1.1/', [], 'address_private'],
  ['S16', 'metadata', 'http://169.254.169.254/latest/meta-data/', [], 'address_link_local'],
  ['S17', 'CGNAT', 'http://100.64.0.1/', [], 'address_shared'],
  ['S18', 'just outside /10', 'http://100.128.0.1/', [], 'accepted'],
  ['S19', 'Alibaba metadata', 'http://100.100.100.200/', [], 'address_metadata'],
  ['S20', 'Oracle metadata', 'http://192.0.0.192/', [], 'address_metadata'],
  ['S21', 'Azure wire server', 'http://168.63.129.16/', [], 'address_metadata'],
  ['S22', 'benchmarking', 'http://198.18.0.1/', [], 'address_benchmarking'],
  ['S23', 'documentation', 'http://203.0.113.9/', [], 'address_documentation'],
  ['S24', 'multicast', 'http://224.0.0.1/', [], 'address_multicast'],
  ['S25', 'reserved', 'http://240.0.0.1/', [], 'address_reserved'],
  ['S26', 'broadcast', 'http://255.255.255.255/', [], 'address_broadcast'],
  ['S27', 'decimal', 'http://2130706433/', [], 'address_loopback'],
  ['S28', 'hex', 'http://0x7f000001/', [], 'address_loopback'],
  ['S29', 'octal', 'http://0177.0.0.1/', [], 'address_loopback'],
  ['S30', 'short form', 'http://127.1/', [], 'address_loopback'],
  ['S31', 'hex metadata', 'http://0xA9FEA9FE/', [], 'address_link_local'],
  ['S32', 'trailing dot', 'http://127.0.0.1./', [], 'address_loopback'],
  ['S33', 'ideographic dots', 'http://127。0。0。1/', [], 'address_loopback'],
  ['S34', 'circled digits', 'http://①②⑦.⓪.⓪.①/', [], 'address_loopback'],
  ['S35', 'percent-encoded host', 'http://%31%32%37.0.0.1/', [], 'address_loopback'],
  ['S36', 'number above 32 bits', 'http://4294967296/', [], 'malformed'],
  ['S37', 'five parts', 'http://1.2.3.4.5/', [], 'malformed'],
  ['S38', 'v6 loopback', 'http://[::1]/', [], 'address_loopback'],
  ['S39', 'v6 unspecified', 'http://[::]/', [], 'address_unspecified'],
  ['S40', 'mapped loopback', 'http://[::ffff:127.0.0.1]/', [], 'address_loopback'],
  ['S41', 'mapped public', 'http://[::ffff:8.8.8.8]/', [], 'accepted'],
  ['S42', 'compatible', 'http://[::127.0.0.1]/', [], 'address_translation'],
  ['S43', 'NAT64', 'http://[64:ff9b::169.254.169.254]/', [], 'address_translation'],
  ['S44', 'local NAT64', 'http://[64:ff9b:1::a9fe:a9fe]/', [], 'address_translation'],
  ['S45', '6to4', 'http://[2002:7f00:1::]/', [], 'address_translation'],
  ['S46', 'Teredo', 'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', [], 'address_protocol'],
  ['S47', 'v6 link-local', 'http://[fe80::1]/', [], 'address_link_local'],
  ['S48', 'zone id', 'http://[fe80::1%25eth0]/', [], 'malformed'],
  ['S49', 'ULA metadata', 'http://[fd00:ec2::254]/', [], 'address_metadata'],
  ['S50', 'v6 multicast', 'http://[ff02::1]/', [], 'address_multicast'],
  ['S51', 'v6 documentation', 'http://[2001:db8::1]/', [], 'address_documentation'],
  ['S52', 'v6 documentation 3fff', 'http://[3fff::1]/', [], 'address_documentation'],
  ['S53', 'SRv6 SIDs', 'http://[5f00::1]/', [], 'address_reserved'],
  ['S54', 'discard', 'http://[100::1]/', [], 'address_reserved'],
  ['S55', 'outside 2000::/3', 'http://[4000::1]/', [], 'address_reserved'],
  ['S56', 'localhost', 'http://localhost/', [PUBLIC], 'name_special'],
  ['S57', 'case and dot', 'http://LOCALHOST./', [PUBLIC], 'name_special'],
  ['S58', 'under localhost', 'http://foo.localhost/', [PUBLIC], 'name_special'],
  ['S59', 'mDNS', 'http://printer.local/', [PUBLIC], 'name_special'],
  ['S60', 'metadata name', 'http://metadata.google.internal/', ['169.254.169.254'], 'name_special'],
  ['S61', 'single label', 'http://redis/', [PUBLIC], 'name_single_label'],
  ['S62', 'full-width letters', 'http://ｌｏｃａｌｈｏｓｔ/', [PUBLIC], 'name_special'],
  ['S63', 'userinfo', 'https://user:pw@hooks.example.com/', [PUBLIC], 'userinfo'],
  ['S64', 'userinfo trick', 'https://hooks.example.com@127.0.0.1/', [], 'userinfo'],
  ['S65', 'backslash', 'https://hooks.example.com\\@127.0.0.1/', [PUBLIC], 'backslash'],
  ['S66', 'fragment trick', 'https://127.0.0.1#@hooks.example.com/', [], 'fragment'],
  ['S67', 'leading tab', '\thttps://hooks.example.com/', [PUBLIC], 'control_character'],
  ['S68', 'ftp', 'ftp://hooks.example.com/', [PUBLIC], 'scheme'],
  ['S69', 'file', 'file:///etc/passwd', [], 'scheme'],
  ['S70', 'unix', 'unix:///run/docker.sock', [], 'scheme'],
  ['S71', 'missing slashes', 'https:hooks.example.com/', [PUBLIC], 'malformed'],
  ['S72', 'low port', 'https://hooks.example.com:22/', [PUBLIC], 'port'],
  ['S73', 'port 0', 'https://hooks.example.com:0/', [PUBLIC], 'port'],
  ['S74', 'resolves private', 'https://evil.example.com/', ['10.0.0.5'], 'address_private'],
  ['S75', 'mixed v4', 'https://mix.example.com/', [PUBLIC, '127.0.0.1'], 'address_loopback'],
  ['S76', 'mixed family', 'https://mix6.example.com/', [PUBLIC, '::1'], 'address_loopback'],
  ['S77', 'mapped answer', 'https://map.example.com/', ['::ffff:10.0.0.1'], 'address_private'],
  ['S78', 'no answer', 'https://none.example.com/', [], 'no_answer'],
  ['S79', 'zone in an answer', 'https://zone.example.com/', ['fe80::1%eth0'], 'address_zone'],
  ['S80', 'wildcard DNS', 'https://127.0.0.1.nip.io/', ['127.0.0.1'], 'address_loopback'],
]

export const JUDGED_TARGETS: readonly Target[] = LINES.map(([id, title, url, dns, verdict]) => ({
  id,
  title,
  url,
  dns,
  verdict,
}))

export const TARGET_ROWS: readonly Row[] = JUDGED_TARGETS.map(
  ({ id, title, url, dns, verdict }) => ({
    id,
    case: `${title}: \`${printed(url)}\`${dns.length === 0 ? '' : ` at ${dns.join(', ')}`}`,
    answer: verdict === 'accepted' ? '`accepted`' : `refused: \`${verdict}\``,
  }),
)

/** A tab is shown as it is written in code. */
function printed(url: string): string {
  return url.replaceAll('\t', '\\t')
}
