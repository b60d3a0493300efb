/** Why the guard refuses a target: public texts by reason. A text never names an address. */
export const REFUSALS = {
  malformed: 'The url is not an absolute address with a scheme, "//" and a host.',
  too_long: 'The url is longer than 2048 characters.',
  control_character: 'The url contains a control character or a space.',
  backslash: 'The url contains a backslash.',
  scheme: 'The scheme of the url is not permitted.',
  userinfo: 'The url must not contain a user name or password.',
  fragment: 'The url must not contain a fragment.',
  port: 'The port must be 80, 443 or at least 1024, and not one that browsers block.',
  own_listener: 'The url leads back to this service.',
  name_special: 'The host name is reserved for special or local use.',
  name_single_label: 'The host name must have at least two labels.',
  name_numeric: 'The last label of the host name must not be a number.',
  name_label:
    'A host name has labels of 1 to 63 letters, digits, hyphens or underscores, 253 in all.',
  no_answer: 'The host name has no address.',
  too_many_answers: 'The host name has more than 16 addresses.',
  address_malformed: 'An address of the host is not well-formed.',
  address_zone: 'An address with a zone is not permitted.',
  address_unpinned: 'The connection was made to an address that was not checked.',
  address_unspecified: 'The host is an unspecified address.',
  address_private: 'The host is a private address.',
  address_shared: 'The host is an address of shared carrier space.',
  address_loopback: 'The host is a loopback address.',
  address_link_local: 'The host is a link-local address.',
  address_metadata: "The host is an address of a cloud's own service.",
  address_protocol: 'The host is an address reserved for a protocol.',
  address_translation: 'The host is an address that embeds another one.',
  address_anycast: 'The host is an anycast address of a special service.',
  address_benchmarking: 'The host is an address reserved for benchmarks.',
  address_documentation: 'The host is an address reserved for documentation.',
  address_multicast: 'The host is a multicast address.',
  address_broadcast: 'The host is the broadcast address.',
  address_reserved: 'The host is a reserved address.',
} as const satisfies Readonly<Record<string, string>>

/** A reason: a key of `REFUSALS`. */
export type RefusalReason = keyof typeof REFUSALS

/** A reason that concerns one address. */
export type AddressRefusal = Extract<RefusalReason, `address_${string}`>
