import { createServer, type ServerResponse } from 'node:http'
import type { Answer } from './fake-fetcher.ts'

export interface TestServer extends AsyncDisposable {
  readonly url: string
}

/** The same answers as those of the fetcher in memory, over real HTTP, for tests. `answer` is given a path. */
export async function testServer(answer: (path: string) => Answer | undefined): Promise<TestServer> {
  const server = createServer((request, response) => send(response, answer(request.url ?? '/')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, answer: Answer = { status: 404 }): void {
  if (typeof answer === 'string') response.end(answer)
  else if ('status' in answer) response.writeHead(answer.status).end('<html>not what you want</html>')
  else if ('redirect' in answer) response.writeHead(302, { location: answer.redirect }).end()
  else {
    response.writeHead(200, { 'content-length': answer.cut.length + 1 })
    response.write(answer.cut, () => response.destroy())
  }
}
