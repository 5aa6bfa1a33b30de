import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { pollUntil } from '../kit/poll.ts'
import { parseHostPort } from '../kit/host-port.ts'
import { runProxy } from './run.ts'
import { type OpensslTestCa, createOpensslTestCa } from './testing/openssl-test-ca.ts'
import { findFreeAddress, ProxyTestBed } from './testing/proxy-test-bed.ts'

let ca: OpensslTestCa
let bed: ProxyTestBed
let directory: string

beforeAll(async () => {
  ca = await createOpensslTestCa()
})
beforeEach(async () => {
  bed = new ProxyTestBed(ca)
  directory = await mkdtemp(join(tmpdir(), 'proxy-'))
  await writeFile(join(directory, 'ca.crt'), ca.certificate)
  await writeFile(join(directory, 'client.crt'), ca.client.certificate)
  await writeFile(join(directory, 'client.key'), ca.client.privateKey)
})
afterEach(async () => {
  await bed.close()
  await rm(directory, { recursive: true })
})

const statusSchema = z.looseObject({
  servers: z.array(z.looseObject({ server: z.string(), health: z.string() })),
})
const file = (): string => join(directory, 'config.json')
const stateFile = (): string => join(directory, 'servers.json')

/** Replaces the file at once, as agents do, so that the proxy never reads a part of it. */
async function replaceConfiguration(text: string): Promise<void> {
  await writeFile(`${file()}.new`, text)
  await rename(`${file()}.new`, file())
}

interface Running {
  readonly port: number
  readonly health: string
  configure(servers: readonly string[]): Promise<void>
  status(): Promise<z.infer<typeof statusSchema>>
  stop(): Promise<void>
}

/** Starts a proxy that reads its configuration from files, as on a host. */
async function running(servers: readonly string[]): Promise<Running> {
  const [listen, health] = [await findFreeAddress(), await findFreeAddress()]
  const configure = async (names: readonly string[]): Promise<void> => {
    const { configuration } = bed.settings(names, {
      listen,
      health,
      caFile: join(directory, 'ca.crt'),
      credentials: { certificate: join(directory, 'client.crt'), privateKey: join(directory, 'client.key') },
      stateFile: stateFile(),
    })
    await replaceConfiguration(JSON.stringify(configuration))
  }
  await configure(servers)
  const controller = new AbortController()
  const ended = runProxy(file(), bed.deps, controller.signal)
  const stop = async (): Promise<void> => {
    controller.abort()
    await ended
  }
  bed.onClose(stop)
  await pollUntil('the proxy to listen', async () => bed.logged.includes(`listening at ${listen}`), {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  const status = async (): Promise<z.infer<typeof statusSchema>> => {
    const response = await fetch(`http://${health}/healthz`)
    return statusSchema.parse(await response.json())
  }
  return { port: parseHostPort(listen).port, health, configure, status, stop }
}

async function logged(text: string): Promise<void> {
  await pollUntil(`a line with ${text}`, async () => bed.logged.some((line) => line.includes(text)), {
    timeoutMs: 20_000,
    intervalMs: 5,
  })
}

test('discovered servers are used, stored, and used after a restart without a configured server', async () => {
  const [configured, learned] = [await bed.apiServer(), await bed.apiServer()]
  configured.servers = [learned.name]
  learned.servers = [learned.name]
  const first = await running([configured.name])
  await logged(`API servers of the cluster: ${learned.name}`)
  await pollUntil(
    'the state file',
    async () => (await readFile(stateFile(), 'utf8')).includes(learned.name),
    {
      timeoutMs: 10_000,
      intervalMs: 5,
    },
  )
  expect((await first.status()).servers.map(({ server }) => server)).toEqual([configured.name, learned.name])
  await first.stop()
  await configured.close()
  const second = await running([configured.name])
  expect(await bed.client(second.port).get()).toBe(learned.name)
})

test('an empty list of discovered servers is ignored', async () => {
  const [server, other] = [await bed.apiServer(), await bed.apiServer()]
  server.servers = [other.name]
  const proxy = await running([server.name])
  await logged('API servers of the cluster')
  server.servers = []
  other.servers = []
  const pending = server.discoveryCount + other.discoveryCount
  await pollUntil(
    'three more discovery requests',
    async () => server.discoveryCount + other.discoveryCount > pending + 3,
    {
      timeoutMs: 20_000,
      intervalMs: 5,
    },
  )
  expect((await proxy.status()).servers).toHaveLength(2)
})

test('an unreadable state file does not prevent the start', async () => {
  await writeFile(stateFile(), '{"half": ')
  const server = await bed.apiServer()
  const proxy = await running([server.name])
  expect(await bed.client(proxy.port).get()).toBe(server.name)
  expect(bed.logged[0]).toContain('cannot read')
})

test('a new configuration is applied without a restart and without cutting connections', async () => {
  const [one, other] = [await bed.apiServer(), await bed.apiServer()]
  const proxy = await running([one.name])
  const pending = bed.client(proxy.port, true).get('/slow')
  await pollUntil('the request', async () => one.slow.length > 0, { timeoutMs: 10_000, intervalMs: 5 })
  await proxy.configure([other.name])
  await logged('applied the changed')
  expect(await bed.client(proxy.port).get()).toBe(other.name)
  one.slow[0]?.end('at last')
  expect(await pending).toBe('at last')
})

test('an incomplete configuration is logged once, and the previous one stays in use', async () => {
  const server = await bed.apiServer()
  const proxy = await running([server.name])
  await replaceConfiguration('{"apiVersion": "hyperkube.dev/v1", "ki')
  await logged('the previous configuration stays in use')
  expect(await bed.client(proxy.port).get()).toBe(server.name)
  await proxy.configure([server.name, await findFreeAddress()])
  await logged('applied the changed')
  expect(bed.logged.filter((line) => line.includes('stays in use'))).toHaveLength(1)
})

test('the proxy does not start without a configuration', async () => {
  await expect(runProxy(file(), bed.deps, new AbortController().signal)).rejects.toMatchObject({
    code: 'PROXY_CONFIGURATION',
  })
})

test('a port in use is reported', async () => {
  const taken = await bed.plainServer(() => undefined)
  const server = await bed.apiServer()
  const { configuration } = bed.settings([server.name], { listen: taken, stateFile: stateFile() })
  await writeFile(file(), JSON.stringify(configuration))
  await expect(runProxy(file(), bed.deps, new AbortController().signal)).rejects.toMatchObject({
    code: 'PROXY_NOT_LISTENING',
  })
})

test('the health server reports status and Prometheus metrics', async () => {
  const server = await bed.apiServer()
  const proxy = await running([server.name])
  await bed.client(proxy.port).get()
  await pollUntil('its health', async () => (await proxy.status()).servers[0]?.health === 'healthy', {
    timeoutMs: 10_000,
    intervalMs: 5,
  })
  expect(await proxy.status()).toMatchObject({
    kind: 'ApiserverProxyStatus',
    listening: true,
    servers: [{ server: server.name, health: 'healthy', totals: { connections: 1 } }],
  })
  const metrics = await fetch(`http://${proxy.health}/metrics`)
  expect(await metrics.text()).toContain(
    `hyperkube_apiserver_proxy_connections_total{server="${server.name}"} 1\n`,
  )
  expect((await fetch(`http://${proxy.health}/`)).status).toBe(404)
})
