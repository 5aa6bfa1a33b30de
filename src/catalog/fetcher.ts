import { HyperkubeError } from '../kit/errors.ts'

/** Files of the world, by URL. What fails does so with a HyperkubeError that names the URL. */
export interface Fetcher {
  /** The text at a URL, of `limit` bytes at most. */
  text(url: string, limit: number, signal: AbortSignal): Promise<string>
  /** The sha256, in hex, of the `limit` bytes at most that are at a URL; they are kept nowhere. */
  sha256(url: string, limit: number, signal: AbortSignal): Promise<string>
}

export function unreachable(url: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('FETCH_UNREACHABLE', `${url} could not be read`, { cause })
}

/** Of a status that is not 2xx. */
export function refused(url: string, status: number): HyperkubeError {
  const code = status >= 500 ? 'FETCH_SERVER_ERROR' : status === 404 ? 'FETCH_NOT_FOUND' : 'FETCH_REFUSED'
  return new HyperkubeError(code, `${url} answered with status ${status}`)
}

export function tooLarge(url: string, limit: number): HyperkubeError {
  return new HyperkubeError('FETCH_TOO_LARGE', `${url} is larger than ${limit} bytes`)
}

export function insecure(url: string, to: string): HyperkubeError {
  return new HyperkubeError('FETCH_INSECURE', `${url} leads to ${to}, which is not an https URL`)
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof HyperkubeError && ['FETCH_UNREACHABLE', 'FETCH_SERVER_ERROR'].includes(error.code)
}
