import { request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface SocketAnswer {
  readonly status: number
  readonly text: string
}

/** One question to a server that listens on a socket of this machine. */
export async function askSocket(
  socketPath: string,
  method: string,
  path: string,
  body: string | undefined,
  signal: AbortSignal,
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, signal, agent: false }, (response) => {
      text(response).then(
        (all) => resolve({ status: response.statusCode ?? 0, text: all }),
        (error: unknown) => reject(new Error('the answer was cut', { cause: error })),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
