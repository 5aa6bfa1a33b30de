import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const cookieName = 'hyperkube-ui'

/**
 * Access of one browser. The token of the printed URL is valid once, and is replaced by a cookie. Browsers
 * send cookies of 127.0.0.1 to all ports, so the path of the cookie is secret too: other servers of this
 * machine do not get it.
 */
export class UiSession {
  readonly token = createRandomText()
  /** Path of all pages: /RANDOM/. */
  readonly path = `/${createRandomText()}/`
  readonly #secret = createRandomText()
  #isOpened = false

  /** Exchanges the token for the value of a Set-Cookie header. Returns undefined if it is wrong or was used. */
  open(token: string): string | undefined {
    if (this.#isOpened || !isEqualText(token, this.token)) return undefined
    this.#isOpened = true
    return `${cookieName}=${this.#secret}; Path=${this.path}; HttpOnly; SameSite=Strict`
  }

  /** True if a Cookie header contains the cookie of this session. */
  accepts(cookies: string | undefined): boolean {
    const values = (cookies ?? '').split(';').flatMap((part) => {
      const [name = '', value = ''] = part.trim().split('=', 2)
      return name === cookieName ? [value] : []
    })
    return values.some((value) => isEqualText(value, this.#secret))
  }
}

function createRandomText(): string {
  return randomBytes(24).toString('base64url')
}

/** Compares digests, so that the time depends neither on content nor on length. */
function isEqualText(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return first !== undefined && second !== undefined && timingSafeEqual(first, second)
}
