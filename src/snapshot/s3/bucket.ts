import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { HyperkubeError } from '../../kit/errors.ts'
import { isPassing, refusedBy, unreachable } from './errors.ts'

export interface BucketOptions {
  /** https://s3.example, without a path. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/** Waits before another try, for so many milliseconds. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>

export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** For people: what shall be done. */
  readonly what: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer> | string
}

/** Before each further try, in milliseconds. */
const pauses = [500, 2000, 5000] as const
/** Longer than a part of an upload takes on a slow line, in milliseconds. */
const patience = 300_000

/** A bucket of a server that speaks as Amazon S3 does. Whatever goes there is signed with its own digest. */
export class Bucket {
  readonly #options: BucketOptions
  readonly #pause: Pause
  readonly title: string

  constructor(options: BucketOptions, pause: Pause = realPause) {
    this.#options = options
    this.#pause = pause
    this.title = `s3://${options.bucket}`
  }

  /** An answer that has been read whole: its text, and its headers. */
  async ask(ask: Ask, signal: AbortSignal): Promise<{ readonly text: string; readonly headers: Headers }> {
    return this.#attempts(
      signal,
      async () => {
        const either = AbortSignal.any([signal, AbortSignal.timeout(patience)])
        const response = await this.#send(ask, either)
        return { text: await response.text(), headers: response.headers }
      },
      ask.what,
    )
  }

  /** An answer that has begun. */
  async open(ask: Ask, signal: AbortSignal): Promise<Response> {
    return this.#attempts(signal, async () => this.#send(ask, signal), ask.what)
  }

  async #send(
    { method, what, key, query = {}, headers = {}, body }: Ask,
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
    // Followed by itself, a redirect would take the signature to somebody else.
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    })
    if (response.ok) return response
    throw refusedBy(this.title, what, response.status, await response.text())
  }

  async #attempts<T>(signal: AbortSignal, attempt: () => Promise<T>, what: string): Promise<T> {
    for (const pause of [...pauses, undefined]) {
      try {
        return await attempt()
      } catch (error) {
        signal.throwIfAborted()
        const known = error instanceof HyperkubeError ? error : unreachable(this.title, what, error)
        if (pause === undefined || !isPassing(known)) throw known
        await this.#pause(pause, signal)
      }
    }
    throw new Error('the last try answers or throws')
  }
}

async function realPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    // Node's own error would hide the reason.
    signal.throwIfAborted()
    throw error
  })
}
