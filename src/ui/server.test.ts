import { request as sendRequest } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { startUiServer, type UiServer, type UiServerOptions } from './server.ts'
import { buildWebFiles } from './web-files.ts'

const files = buildWebFiles('/* script */', '/* style */')
const statusDocument = {
  cluster: 'shop',
  hosts: [],
  summary: {
    kubernetes: '1.37.1',
    hosts: { healthy: 1, total: 1 },
    nodes: { healthy: 1, total: 1 },
    api: { healthy: 1, total: 1 },
    etcd: { healthy: 1, total: 1, quorum: true },
    actions: [],
  },
}

let server: UiServer | undefined
afterEach(async () => server?.[Symbol.asyncDispose]())

async function start(
  readView: UiServerOptions['readView'] = async () => statusDocument,
  applyPlan?: UiServerOptions['applyPlan'],
): Promise<UiServer> {
  const now = (): Date => new Date('2026-11-18T12:00:00Z')
  server = await startUiServer({ port: 0, files, readView, applyPlan, now })
  return server
}

interface Reply {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** Sends a request with any headers, also those that fetch forbids. */
async function send(
  { port }: UiServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  body = '',
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const options = {
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { host: `127.0.0.1:${port}`, ...headers },
  }
  const request = sendRequest(options, (response) => {
    const parts: string[] = []
    response.setEncoding('utf8').on('data', (part: string) => parts.push(part))
    response.on('end', () =>
      resolve({ status: response.statusCode, headers: response.headers, body: parts.join('') }),
    )
  })
  request.on('error', reject).end(body)
  return promise
}

/** Opens the interface like a browser: exchanges the token for the cookie. */
async function open(opened: UiServer): Promise<{ readonly path: string; readonly cookie: string }> {
  const { pathname, search } = new URL(opened.url)
  const { status, headers } = await send(opened, `${pathname}${search}`, { 'sec-fetch-site': 'none' })
  expect(status).toBe(303)
  const [setCookie = ''] = headers['set-cookie'] ?? []
  expect(setCookie).toMatch(/^hyperkube-ui=[\w-]{32}; Path=\/[\w-]{32}\/; HttpOnly; SameSite=Strict$/)
  return { path: String(headers['location']), cookie: setCookie.split(';')[0] ?? '' }
}

describe('access', () => {
  test('the token opens the interface once', async () => {
    const opened = await start()
    const { path, cookie } = await open(opened)
    expect((await send(opened, path, { cookie })).body).toContain('<div id="app">')
    const { pathname, search } = new URL(opened.url)
    const again = await send(opened, `${pathname}${search}`)
    expect(again.status).toBe(401)
    expect(again.headers['set-cookie']).toBeUndefined()
  })

  test('a wrong token and HEAD do not use up the token', async () => {
    const opened = await start()
    const { pathname, search } = new URL(opened.url)
    expect((await send(opened, '/?token=wrong')).status).toBe(401)
    expect((await send(opened, `${pathname}${search}`, {}, 'HEAD')).status).toBe(401)
    await open(opened)
  })

  test('without the cookie, or with another one, all paths are refused', async () => {
    const opened = await start()
    const { path, cookie } = await open(opened)
    for (const one of ['/', path, `${path}ui.js`, `${path}api/clusters/shop/status`, '/api/fleet']) {
      expect((await send(opened, one)).status, one).toBe(401)
      expect((await send(opened, one, { cookie: 'hyperkube-ui=guess' })).status, one).toBe(401)
    }
    // The path is secret too, because browsers send cookies of 127.0.0.1 to all ports.
    expect((await send(opened, '/api/overview', { cookie })).status).toBe(401)
  })

  test.each(['evil.example', 'evil.example:PORT', '127.0.0.1', '127.0.0.1:1', '[::1]:PORT'])(
    'the Host header %j is refused (DNS rebinding)',
    async (host) => {
      const opened = await start()
      const { path, cookie } = await open(opened)
      const reply = await send(opened, path, { cookie, host: host.replace('PORT', String(opened.port)) })
      expect(reply.status).toBe(403)
    },
  )

  test('the name localhost is accepted', async () => {
    const opened = await start()
    const { path, cookie } = await open(opened)
    expect((await send(opened, path, { cookie, host: `localhost:${opened.port}` })).status).toBe(200)
  })

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('requests of other origins are refused: %j', async (headers: Record<string, string>) => {
    const opened = await start()
    const { path, cookie } = await open(opened)
    expect((await send(opened, `${path}api/overview`, { cookie, ...headers })).status).toBe(403)
  })

  test('another site cannot use the token', async () => {
    const opened = await start()
    const { pathname, search } = new URL(opened.url)
    const foreign = await send(opened, `${pathname}${search}`, { 'sec-fetch-site': 'cross-site' })
    expect(foreign.status).toBe(403)
    await open(opened)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    const opened = await start()
    const { path, cookie } = await open(opened)
    const reply = await send(opened, `${path}api/overview`, { cookie }, method)
    expect(reply.status).toBe(405)
    expect(reply.headers['allow']).toBe('GET, HEAD')
  })
})

describe('changes', () => {
  const digest = 'd1'
  async function openWithChanges(): Promise<{
    readonly applied: unknown[]
    readonly post: (path: string, body: string, headers?: Record<string, string>) => Promise<Reply>
  }> {
    const applied: unknown[] = []
    const opened = await start(undefined, async (request) => {
      applied.push(request)
      return { run: 'time-up' }
    })
    const { path, cookie } = await open(opened)
    const own = { cookie, origin: `http://127.0.0.1:${opened.port}`, 'sec-fetch-site': 'same-origin' }
    return {
      applied,
      post: async (view, body, headers = own) => send(opened, `${path}${view}`, headers, 'POST', body),
    }
  }

  test('a plan is applied if the name of the cluster is typed', async () => {
    const { applied, post } = await openWithChanges()
    const { status, body } = await post('api/clusters/shop/up', JSON.stringify({ digest, confirm: 'shop' }))
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ state: 'read', document: { run: 'time-up' } })
    expect(applied).toEqual([{ cluster: 'shop', digest, confirm: 'shop' }])
  })

  test.each([
    ['another name', JSON.stringify({ digest, confirm: 'shop2' })],
    ['no name', JSON.stringify({ digest })],
    ['no JSON', 'digest=d1&confirm=shop'],
    ['a long body', JSON.stringify({ digest: 'd'.repeat(5000), confirm: 'shop' })],
  ])('%s changes nothing', async (_what, body) => {
    const { applied, post } = await openWithChanges()
    expect(JSON.parse((await post('api/clusters/shop/up', body)).body)).toMatchObject({ state: 'failed' })
    expect(applied).toEqual([])
  })

  test('requests of other sites, without origin or without cookie change nothing', async () => {
    const { applied, post } = await openWithChanges()
    const body = JSON.stringify({ digest, confirm: 'shop' })
    const statuses = [
      await post('api/clusters/shop/up', body, { origin: 'https://evil.example' }),
      await post('api/clusters/shop/up', body, { 'sec-fetch-site': 'cross-site' }),
      await post('api/clusters/shop/up', body, {}),
      await post('api/clusters/shop/reset', body),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 403, 403, 404])
    expect(applied).toEqual([])
  })
})

test('every response has the security headers', async () => {
  const opened = await start()
  const { path, cookie } = await open(opened)
  const replies = await Promise.all([
    send(opened, '/'),
    send(opened, path, { cookie }),
    send(opened, `${path}ui.js`, { cookie }),
    send(opened, `${path}api/clusters/shop/status`, { cookie }),
    send(opened, path, { cookie, host: 'evil.example' }),
  ])
  for (const { headers } of replies) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers['access-control-allow-origin']).toBeUndefined()
  }
})

describe('views', () => {
  async function readView(read: UiServerOptions['readView'], view: string): Promise<Reply> {
    const opened = await start(read)
    const { path, cookie } = await open(opened)
    return send(opened, `${path}api/${view}`, { cookie })
  }

  test('a response has only fields of its schema, and text of secrets is masked', async () => {
    const document = {
      ...statusDocument,
      identity: 'TOP',
      hosts: [
        {
          host: 'cp1',
          services: [],
          secrets: ['TOP'],
          unreachable: 'login failed: password=hunter2hunter2 -----BEGIN PRIVATE KEY-----\nTOPTOP',
        },
      ],
    }
    const { body } = await readView(async () => document, 'clusters/shop/status')
    expect(body).toContain('cp1')
    expect(body).not.toMatch(/TOP|hunter2|identity|secrets/)
  })

  test('a failure has code and hint, without control characters', async () => {
    const error = new HyperkubeError('SSH_REFUSED', 'refused\u001B[8m', {
      host: 'cp1',
      hint: 'hyperkube doctor',
    })
    const { status, body } = await readView(async () => Promise.reject(error), 'clusters/shop/doctor')
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({
      state: 'failed',
      failure: { code: 'SSH_REFUSED', hint: 'hyperkube doctor' },
    })
    expect(body).not.toContain('\u001B')
  })

  test('a document of another form is a failure', async () => {
    const { body } = await readView(async () => ({ cluster: 1 }), 'clusters/shop/status')
    expect(JSON.parse(body)).toMatchObject({ state: 'failed' })
  })

  test.each([
    'nothing',
    'clusters/shop',
    'clusters/shop/reset',
    'clusters/shop/status/x',
    'clusters/%ff/status',
  ])('%s does not exist', async (view) => {
    expect((await readView(async () => statusDocument, view)).status).toBe(404)
  })
})

test('a port that is in use is an error', async () => {
  const { port } = await start()
  const second = startUiServer({ port, files, readView: async () => undefined, now: () => new Date() })
  await expect(second).rejects.toMatchObject({ code: 'UI_NOT_LISTENING' })
})
