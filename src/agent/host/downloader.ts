import { HyperkubeError } from '../../kit/errors.ts'

export interface DownloadWish {
  readonly url: string
  /** A file that may hold the first part already, from a download that was cut. */
  readonly into: string
  /** In bytes. */
  readonly limit: number
  /** In bytes; the total is not always told. */
  readonly progress: (done: number, total: number | undefined) => void
  readonly signal: AbortSignal
}

/** Files of the world, by URL. What fails does so with a HyperkubeError that names the URL. */
export interface Fetch {
  /** Answers with the sha256 of the whole file, in hex. What has come stays when the rest does not. */
  download(wish: DownloadWish): Promise<string>
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

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof HyperkubeError && ['FETCH_UNREACHABLE', 'FETCH_SERVER_ERROR'].includes(error.code)
}
