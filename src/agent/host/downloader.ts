import { HyperkubeError } from '../../kit/errors.ts'

export interface DownloadOptions {
  readonly url: string
  /** Target file. It may contain the first part of an interrupted download, which is continued. */
  readonly into: string
  readonly maxBytes: number
  /** Called with the number of downloaded bytes and the total, which is not always known. */
  readonly progress: (done: number, total: number | undefined) => void
  readonly signal: AbortSignal
}

/** Downloads files by URL. Failures are HyperkubeErrors that name the URL. */
export interface Downloader {
  /** Downloads a file and returns its SHA-256 in hex. If the download fails, the received bytes are kept. */
  download(options: DownloadOptions): Promise<string>
}

export function downloadUnreachable(url: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('FETCH_UNREACHABLE', `${url} could not be read`, { cause })
}

/** Builds the error for a status other than 2xx. */
export function downloadRefused(url: string, status: number): HyperkubeError {
  const code = status >= 500 ? 'FETCH_SERVER_ERROR' : status === 404 ? 'FETCH_NOT_FOUND' : 'FETCH_REFUSED'
  return new HyperkubeError(code, `${url} answered with status ${status}`)
}

export function downloadTooLarge(url: string, maxBytes: number): HyperkubeError {
  return new HyperkubeError('FETCH_TOO_LARGE', `${url} is larger than ${maxBytes} bytes`)
}

/** True if the same request may succeed on a later try. */
export function isTransientDownloadError(error: unknown): boolean {
  return error instanceof HyperkubeError && ['FETCH_UNREACHABLE', 'FETCH_SERVER_ERROR'].includes(error.code)
}
