import { type Agent, request } from 'node:https'
import { hasCode } from '../kit/errors.ts'
import { parseAddress } from './address.ts'

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface Question {
  readonly agent: Agent
  readonly server: string
  readonly path: string
  /** Milliseconds for all of it. */
  readonly within: number
  /** Bytes. */
  readonly limit: number
}

/** No answer in time. */
export class Silence extends Error {
  constructor() {
    super('no answer in time')
  }
}

export async function get(question: Question): Promise<Answer> {
  const { agent, server, path, within, limit } = question
  return new Promise((resolve, reject) => {
    const { host, port } = parseAddress(server)
    const outgoing = request({ agent, host, port, path, headers: { accept: 'application/json' } })
    // When we ourselves were held up, the answer is there and only not read yet: one look more before we complain.
    const late = (): unknown =>
      setImmediate(() => (outgoing.closed ? undefined : outgoing.destroy(new Silence())))
    const timer = setTimeout(late, within)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', (error) => {
      // The server let go of a connection in the moment in which we took it up again: that says nothing of it.
      if (outgoing.reusedSocket && hasCode(error, 'ECONNRESET')) resolve(get(question))
      else reject(error)
    })
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > limit) outgoing.destroy(new Error(`the answer is longer than ${limit} bytes`))
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
