interface ReservedNames {
  /** Why the names are reserved: the document that defines them, or what they imitate. */
  readonly source: string
  readonly names: readonly string[]
}

/**
 * Names that no app may have as its alias, without hyphens: `sign-in` is looked up as `signin`. An alias is
 * the first label of a host below the apps' domain, so software or people would take such a host for the
 * service's own.
 */
export const RESERVED_NAMES: readonly ReservedNames[] = [
  {
    source: 'RFC 2142, 3 to 6: mailboxes of roles',
    names: [
      'abuse',
      'ftp',
      'hostmaster',
      'info',
      'marketing',
      'news',
      'noc',
      'postmaster',
      'sales',
      'security',
      'support',
      'usenet',
      'uucp',
      'webmaster',
      'www',
    ],
  },
  {
    source: 'CA/Browser Forum, Baseline Requirements 3.2.2.4.4: mailboxes that get certificates',
    names: ['admin', 'administrator'],
  },
  {
    source: 'RFC 2219, 3: names of services in the DNS',
    names: ['finger', 'gopher', 'ldap', 'mail', 'ntp', 'pop', 'wais', 'whois'],
  },
  {
    source: 'RFC 6761, RFC 6762: names of the machine and network that a browser runs on',
    names: ['broadcasthost', 'local', 'localdomain', 'localhost'],
  },
  {
    source:
      'Names that systems look up unasked: proxies (draft-ietf-wrec-wpad), tunnels (RFC 5214, 8.3.2)',
    names: ['isatap', 'wpad'],
  },
  {
    source:
      'Names that mail clients look up: Microsoft MS-OXDSCLI, Mozilla autoconfiguration, RFC 8461, ' +
      'OpenPGP Web Key Directory',
    names: ['autoconfig', 'autodiscover', 'mtasts', 'openpgpkey'],
  },
  {
    source: 'Names that devices and telephones look up: Microsoft enrolment and Skype for Business',
    names: [
      'enterpriseenrollment',
      'enterpriseregistration',
      'lyncdiscover',
      'lyncdiscoverinternal',
      'sip',
    ],
  },
  {
    source: 'Customary names of infrastructure; each also with a number, as ns1',
    names: [
      'cdn',
      'cpanel',
      'dns',
      'email',
      'gateway',
      'git',
      'host',
      'imap',
      'mx',
      'ns',
      'pop3',
      'proxy',
      'relay',
      'server',
      'sftp',
      'smtp',
      'ssh',
      'ssl',
      'vpn',
      'webdisk',
      'webmail',
      'whm',
    ],
  },
  {
    source: 'Parts of this service, now or later',
    names: [
      'api',
      'apidocs',
      'apps',
      'assets',
      'console',
      'control',
      'controlpanel',
      'developer',
      'developers',
      'docs',
      'healthz',
      'hooks',
      'internal',
      'keyhook',
      'keys',
      'mcp',
      'metrics',
      'oauth',
      'oauth2',
      'preview',
      'previews',
      'readyz',
      'static',
      'status',
      'studio',
      'uploads',
      'webhook',
      'webhooks',
      'websocket',
    ],
  },
  {
    source: 'Names that a visitor would trust with a password or a payment',
    names: [
      'account',
      'accounts',
      'auth',
      'authenticate',
      'authentication',
      'authorize',
      'billing',
      'checkout',
      'credentials',
      'help',
      'helpdesk',
      'id',
      'identity',
      'idp',
      'login',
      'logon',
      'logout',
      'mfa',
      'myaccount',
      'official',
      'onboarding',
      'operator',
      'passkey',
      'password',
      'passwords',
      'pay',
      'payment',
      'payments',
      'recover',
      'recovery',
      'register',
      'reset',
      'root',
      'saml',
      'secure',
      'session',
      'sessions',
      'settings',
      'setup',
      'signin',
      'signon',
      'signout',
      'signup',
      'sso',
      'staff',
      'superuser',
      'sudo',
      'sysadmin',
      'system',
      'token',
      'tokens',
      'user',
      'users',
      'verification',
      'verify',
    ],
  },
]

const NAMES: ReadonlySet<string> = new Set(RESERVED_NAMES.flatMap(({ names }) => names))

/**
 * Whether an alias is reserved: it consists only of reserved names and the brand, each optionally followed
 * by a number, and of hyphens.
 *
 * @example
 * isReservedAlias('login', 'acme') // true; so are 'log-in', 'acme', 'acme-login', 'secure-login', 'www2'
 * isReservedAlias('acme-fan-shop', 'acme') // false
 */
export function isReservedAlias(alias: string, brand: string): boolean {
  const isReserved = (text: string): boolean => {
    const name = text.replace(/\d+$/, '')
    return [text, name].some((one) => NAMES.has(one) || one === brand) || isOfBrand(name, brand)
  }
  return isReserved(alias.replaceAll('-', '')) || alias.split('-').every(isReserved)
}

/** Whether brand and a reserved name form one word: `acmelogin`, `loginacme`. */
function isOfBrand(text: string, brand: string): boolean {
  if (text.startsWith(brand) && NAMES.has(text.slice(brand.length))) return true
  return text.endsWith(brand) && NAMES.has(text.slice(0, -brand.length))
}
