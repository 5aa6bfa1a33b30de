import { Agent, request, type RequestOptions } from 'node:https'

export interface Credentials {
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

/** Error for a response with a status other than 2xx. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Minimal client for one HTTPS server with mutual TLS: an API server or etcd. */
export class KubeApi {
  readonly #origin: string
  readonly #agent: Agent

  constructor(origin: string, { ca, certificate, key }: Credentials) {
    this.#origin = origin
    this.#agent = new Agent({ ca: ca, cert: certificate, key, keepAlive: true, timeout: 10_000 })
  }

  async get<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path))
  }

  async text(path: string): Promise<string> {
    return this.#send('GET', path)
  }

  async create(path: string, object: unknown): Promise<void> {
    await this.#send('POST', path, object)
  }

  /** Creates a review object such as SubjectAccessReview, and returns it with the server's result. */
  async createAndRead<T>(path: string, object: unknown): Promise<T> {
    return JSON.parse(await this.#send('POST', path, object))
  }

  /** Creates the object unless it exists. */
  async ensure(path: string, object: unknown): Promise<void> {
    await this.create(path, object).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 409)) throw error
    })
  }

  /** Replaces an object, or a part of it such as its status. */
  async replace(path: string, object: unknown): Promise<void> {
    await this.#send('PUT', path, object)
  }

  /** Deletes the object; a missing object is not an error. */
  async remove(path: string, options: object = {}): Promise<void> {
    await this.#send('DELETE', path, options).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  async #send(method: string, path: string, body?: unknown): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const options = { method, agent: this.#agent, headers }
    const { status, text } = await sendHttps(this.#origin, path, options, body)
    if (status >= 200 && status < 300) return text
    throw new ApiError(status, `${method} ${path}: ${status} ${text.slice(0, 300)}`)
  }
}

type HttpsOptions = Omit<RequestOptions, 'method' | 'headers'> & {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

/** Milliseconds until a request without a response fails. */
const defaultTimeoutMs = 10_000

/** Sends one request with a JSON body, and returns the response whatever its status is. */
export async function sendHttps(
  origin: string,
  path: string,
  { method, headers, timeout = defaultTimeoutMs, ...options }: HttpsOptions,
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const content = body === undefined ? '' : JSON.stringify(body)
  // The length is set explicitly: Node omits it for the body of a DELETE, and the server would parse the body
  // as the next request.
  const allHeaders = { ...headers, 'content-length': Buffer.byteLength(content) }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      origin + path,
      { ...options, method, headers: allHeaders, timeout },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`${method} ${path}: no answer in ${timeout / 1000} s`)),
    )
    outgoing.end(content)
  })
}
