import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { httpFetcher } from '../../catalog/fetcher.ts'
import { fakeRegistryPage } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { httpTransport } from '../../catalog/transport.ts'
import { startLoginProxy } from '../../kit/testing/login-proxy.ts'
import { startPrivateServer } from '../../kit/testing/private-server.ts'
import { createTestCa } from '../../kit/testing/test-ca.ts'
import { type CliResult, runHyperkube } from '../testing/run-in-memory.ts'

const passwords = { proxy: 'p@ss:proxy', registry: 'p@ss:registry' }
const ca = await createTestCa()
const sites = fakeUpstream('1.37.1')
const images = fakeImages()
const initialized = Object.fromEntries(
  (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
)

/** Serves the files of upstream's sites, and images to clients with the login. */
const serveMirror: RequestListener = (request, response) => {
  const url = request.url ?? ''
  if (url.startsWith('/v2/')) {
    const expected = `Basic ${Buffer.from(`puller:${passwords.registry}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="mirror"' }).end()
      return
    }
    const page = fakeRegistryPage(images, `https://registry.k8s.io${url}`, {
      accept: request.headers.accept ?? '',
    })
    response.writeHead(page?.status ?? (page === undefined ? 404 : 200), page?.headers).end(page?.body)
    return
  }
  const body = sites.get(`https:/${url}`)
  if (typeof body === 'string') response.end(body)
  else response.writeHead(404).end()
}

interface Setup {
  readonly proxyPassword?: string
  readonly registryPassword?: string
  readonly ca?: boolean
}

/** Runs `lock` for a cluster whose only way to its mirror is a proxy with a login. */
async function lockThroughProxy({
  proxyPassword = passwords.proxy,
  registryPassword = passwords.registry,
  ca: hasCa = true,
}: Setup = {}): Promise<{
  readonly ran: CliResult
  readonly targets: readonly string[]
  readonly host: string
}> {
  await using server = await startPrivateServer(ca, serveMirror)
  await using proxy = await startLoginProxy('me', passwords.proxy)
  const { namedUrl: mirror, host } = server
  const caLine = hasCa ? ', ca: corp.pem' : ''
  const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
  artifacts: { mirror: '${mirror}', digests: mirror${caLine} }
  registries:
    - { host: registry.k8s.io, mirrors: ['${mirror}'] }
    - { host: '${host}', username: puller, password: { secret: puller }${caLine} }
  proxy: { https: '${proxy.url}', username: me, password: { secret: proxy } }
`
  let files: Record<string, string> = {
    ...initialized,
    'cluster.yml': cluster,
    'corp.pem': ca.certificate,
    proxy: proxyPassword,
    puller: registryPassword,
  }
  for (const words of ['secret set proxy --from-file proxy', 'secret set puller --from-file puller']) {
    const { code, stderr, files: written } = await runHyperkube(words, files)
    expect(code, stderr).toBe(0)
    files = Object.fromEntries(written)
  }
  const ran = await runHyperkube('lock', files, {
    connect: (route) => ({ fetcher: httpFetcher(route), web: httpTransport(route) }),
  })
  return { ran, targets: proxy.targets, host }
}

test('lock reads files and images through the proxy, with logins and a private CA', async () => {
  const { ran, targets, host } = await lockThroughProxy()
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.files.get('cluster.lock')).toContain('sha256')
  expect(new Set(targets)).toEqual(new Set([host]))
  for (const password of Object.values(passwords))
    expect(
      [...ran.files].filter(([name, text]) => name.startsWith('cluster.') && text.includes(password)),
    ).toEqual([])
})

test.each([
  [
    'a wrong password of the proxy',
    { proxyPassword: 'wrong-one' },
    'PROXY_LOGIN_REFUSED',
    'hyperkube secret set',
  ],
  ['an unknown CA', { ca: false }, 'FETCH_CA_UNKNOWN', 'openssl s_client'],
  [
    'a wrong password of the registry',
    { registryPassword: 'wrong-one' },
    'REGISTRY_LOGIN_REFUSED',
    'hyperkube secret set puller',
  ],
])('%s has its own code and a next command', async (_, setup, code, command) => {
  const { ran } = await lockThroughProxy(setup)
  expect(ran.code).toBe(1)
  expect(ran.stderr).toContain(code)
  expect(ran.stderr).toContain(command)
  expect(ran.stderr).not.toContain('wrong-one')
  expect(ran.files.has('cluster.lock')).toBe(false)
})
