/** What a daemon is set up with to use the fake. */
export const FAKE_KEY = 'sk_test_fakeSecretKey0123456789'
export const FAKE_SECRET = 'whsec_fakeSigningSecret0123456789'
export const FAKE_ACCOUNT = 'acct_fake'
export const FAKE_PRICE = 'price_fake_pro'
/** The number of the card that pages of the fake pay with: it must never be seen outside of them. */
export const FAKE_CARD = '4242424242424242'

/** The title of every page, and the first line that is printed. */
export const NOTICE = 'Fake Stripe: no money moves'
