import { HyperkubeError } from '../kit/errors.ts'

/** Downloads files. Errors are HyperkubeErrors that name the URL. */
export interface Fetcher {
  /** Returns the text at a URL. Fails if it is longer than `limit` bytes. */
  text(url: string, limit: number, signal: AbortSignal): Promise<string>
  /**
   * Returns the SHA-256 digest (hex) of the content at a URL without storing the content. Fails if it is
   * longer than `limit` bytes.
   */
  sha256(url: string, limit: number, signal: AbortSignal): Promise<string>
}

export function urlUnreachableError(url: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('FETCH_UNREACHABLE', `${url} could not be read`, { cause })
}

/** Builds the error for a response with a status other than 2xx. */
export function urlStatusError(url: string, status: number): HyperkubeError {
  const code = status >= 500 ? 'FETCH_SERVER_ERROR' : status === 404 ? 'FETCH_NOT_FOUND' : 'FETCH_REFUSED'
  return new HyperkubeError(code, `${url} answered with status ${status}`)
}

export function urlTooLargeError(url: string, limit: number): HyperkubeError {
  return new HyperkubeError('FETCH_TOO_LARGE', `${url} is larger than ${limit} bytes`)
}

export function insecureRedirectError(url: string, to: string): HyperkubeError {
  return new HyperkubeError('FETCH_INSECURE', `${url} leads to ${to}, which is not an https URL`)
}

/** True if a retry of the request may succeed. */
export function isTransientUrlError(error: unknown): boolean {
  return error instanceof HyperkubeError && ['FETCH_UNREACHABLE', 'FETCH_SERVER_ERROR'].includes(error.code)
}
