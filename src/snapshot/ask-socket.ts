import { request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface SocketResponse {
  readonly status: number
  readonly text: string
}

/** Sends one HTTP request to a server on a local socket. */
export async function requestOverSocket(
  socketPath: string,
  method: string,
  path: string,
  body: string | undefined,
  signal: AbortSignal,
): Promise<SocketResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request({ socketPath, method, path, signal, agent: false }, (response) => {
      text(response).then(
        (all) => resolve({ status: response.statusCode ?? 0, text: all }),
        (error: unknown) => reject(new Error('the answer was cut', { cause: error })),
      )
    })
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}
