import { type Agent, request } from 'node:https'
import { hasCode } from '../kit/errors.ts'
import { parseAddress } from './address.ts'

export interface HttpGetResponse {
  readonly status: number
  readonly text: string
}

export interface HttpGetOptions {
  readonly agent: Agent
  readonly server: string
  readonly path: string
  /** Milliseconds for the whole request. */
  readonly timeoutMs: number
  /** Maximum size of the response in bytes. */
  readonly maxBytes: number
}

/** Thrown if the response does not arrive within `timeoutMs`. */
export class HttpGetTimeout extends Error {
  constructor() {
    super('no answer in time')
  }
}

export async function httpGet(options: HttpGetOptions): Promise<HttpGetResponse> {
  const { agent, server, path, timeoutMs, maxBytes } = options
  return new Promise((resolve, reject) => {
    const { host, port } = parseAddress(server)
    const outgoing = request({ agent, host, port, path, headers: { accept: 'application/json' } })
    // If the event loop of this process was delayed, the response may have arrived already. So pending events
    // are handled before the request fails.
    const onTimeout = (): unknown =>
      setImmediate(() => (outgoing.closed ? undefined : outgoing.destroy(new HttpGetTimeout())))
    const timer = setTimeout(onTimeout, timeoutMs)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', (error) => {
      // The server closed an idle connection at the moment of its reuse. This is not a failure of the server.
      if (outgoing.reusedSocket && hasCode(error, 'ECONNRESET')) resolve(httpGet(options))
      else reject(error)
    })
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) outgoing.destroy(new Error(`the answer is longer than ${maxBytes} bytes`))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.end()
  })
}
