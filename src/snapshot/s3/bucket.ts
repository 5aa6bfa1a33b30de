import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { HyperkubeError } from '../../kit/errors.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import { createRoutedFetch, type RoutedFetch } from '../../kit/routed-fetch.ts'
import { type Pause, retryTransient, sleepOrAbort } from '../../kit/poll.ts'
import { bucketUnreachable, isTransientBucketError, toBucketError } from './responses.ts'

export interface BucketOptions {
  /** URL of the server without a path, for example https://s3.example. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  /** Proxy and private CAs. Default: a direct connection. */
  readonly route?: HttpRoute
}

export interface BucketRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Describes the request in error messages. */
  readonly description: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer> | string
}

/** Delays before retries, in milliseconds. */
const retryDelaysMs = [500, 2000, 5000] as const
/** Timeout of one request, in milliseconds. The upload of one part on a slow connection takes less. */
const requestTimeoutMs = 300_000

/** A bucket of an S3-compatible server. Every request is signed with the digest of its body. */
export class Bucket {
  readonly #options: BucketOptions
  readonly #pause: Pause
  readonly #fetch: RoutedFetch
  readonly title: string

  constructor(options: BucketOptions, pause: Pause = sleepOrAbort) {
    this.#options = options
    this.#pause = pause
    this.#fetch = createRoutedFetch(options.route ?? {})
    this.title = `s3://${options.bucket}`
  }

  /** Sends a request and reads the whole response. */
  async request(
    request: BucketRequest,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly headers: Headers }> {
    return this.#attempts(
      signal,
      async () => {
        const combinedSignal = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)])
        const response = await this.#send(request, combinedSignal)
        return { text: await response.text(), headers: response.headers }
      },
      request.description,
    )
  }

  /** Sends a request and returns the response without reading its body. */
  async open(request: BucketRequest, signal: AbortSignal): Promise<Response> {
    return this.#attempts(signal, async () => this.#send(request, signal), request.description)
  }

  async #send(
    { method, description, key, query = {}, headers = {}, body }: BucketRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { endpoint, region, bucket, accessKey, secretKey } = this.#options
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}${key === undefined ? '' : `/${key}`}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      region,
    })
    const signed = await signer.sign()
    // Following a redirect would send the signature to another server.
    const response = await this.#fetch(signed.url.href, { method, headers: signed.headers, signal, body })
    if (response.ok) return response
    throw toBucketError(this.title, description, response.status, await response.text())
  }

  async #attempts<T>(signal: AbortSignal, attempt: () => Promise<T>, description: string): Promise<T> {
    const attemptOnce = async (): Promise<T> => {
      try {
        return await attempt()
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof HyperkubeError ? error : bucketUnreachable(this.title, description, error)
      }
    }
    return retryTransient(attemptOnce, {
      delaysMs: retryDelaysMs,
      isTransient: isTransientBucketError,
      pause: this.#pause,
      signal,
    })
  }
}
