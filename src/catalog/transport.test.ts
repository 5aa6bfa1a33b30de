import { createServer, type RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { readAllText } from './follow-redirects.ts'
import { httpTransport } from './transport.ts'

const { signal } = new AbortController()

async function serving(listener: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('request and response headers are passed on, and redirects are not followed', async () => {
  await using site = await serving(({ headers }, response) => {
    response.writeHead(307, {
      location: '/there',
      'x-received': `${headers['accept']} ${headers['accept-encoding']}`,
    })
    response.end('body')
  })
  const response = await httpTransport({}).get(site.url, { accept: 'a/b' }, signal)
  expect([response.status, response.header('location'), response.header('x-received')]).toEqual([
    307,
    '/there',
    'a/b identity',
  ])
  expect(response.header('x-none')).toBeUndefined()
  expect(await readAllText(response.body, site.url, 10)).toBe('body')
})

test('a truncated or stalled body is reported with its URL', async () => {
  await using breaking = await serving((_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('x', () => response.destroy())
  })
  const { body } = await httpTransport({}).get(breaking.url, {}, signal)
  await expect(readAllText(body, breaking.url, 1000)).rejects.toMatchObject({ code: 'FETCH_UNREACHABLE' })
  await using silent = await serving((_, response) => void response.writeHead(200).write('x'))
  const waiting = await httpTransport({}, 50).get(silent.url, {}, signal)
  await expect(readAllText(waiting.body, silent.url, 1000)).rejects.toMatchObject({
    code: 'FETCH_UNREACHABLE',
    message: expect.stringContaining(silent.url),
  })
})

test('an abort ends a request with its own reason', async () => {
  await using silent = await serving(() => undefined)
  const abort = new AbortController()
  const pending = httpTransport({}).get(silent.url, {}, abort.signal)
  abort.abort(new Error('enough'))
  await expect(pending).rejects.toThrow('enough')
})
