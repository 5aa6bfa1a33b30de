import { createServer, type ServerResponse } from 'node:http'
import type { FakeResponse } from './fake-fetcher.ts'

export interface FakeArtifactServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a real HTTP server for tests with the same kinds of responses as the fake fetcher. */
export async function startFakeArtifactServer(
  respond: (path: string) => FakeResponse | undefined,
): Promise<FakeArtifactServer> {
  const server = createServer((request, response) => send(response, respond(request.url ?? '/')))
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

function send(response: ServerResponse, respond: FakeResponse = { status: 404 }): void {
  if (typeof respond === 'string') response.end(respond)
  else if ('status' in respond) response.writeHead(respond.status).end('<html>not what you want</html>')
  else if ('redirect' in respond) response.writeHead(302, { location: respond.redirect }).end()
  else {
    response.writeHead(200, { 'content-length': respond.cut.length + 1 })
    response.write(respond.cut, () => response.destroy())
  }
}
