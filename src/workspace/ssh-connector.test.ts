import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createIdentity, type Identity } from '../identity/identity.ts'
import { describePublicKey, fingerprint, normalizePublicKey } from '../kit/ssh-public-key.ts'
import { type Cluster, clusterSchema } from '../spec/cluster.ts'
import { HostKeyStore } from '../ssh/host-key-store.ts'
import type { FindKnownHostKeys } from '../ssh/known-hosts-files.ts'
import { generateTestKeyPair, hashKnownHostsName } from '../ssh/testing/host-keys.ts'
import { openRemotes, openSshConnector, type SshConnector } from './ssh-connector.ts'

const { signal } = new AbortController()
const hostKeys = {
  ed25519: generateTestKeyPair('ed25519'),
  ecdsa: generateTestKeyPair('ecdsa'),
}
const ed25519 = normalizePublicKey(hostKeys.ed25519.public) ?? ''
const ecdsa = normalizePublicKey(hostKeys.ecdsa.public) ?? ''

const other = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

let identity: Identity
let logins = 0
/** Number of connections that have not logged in yet, and the highest such number so far. */
let [pendingLogins, mostPending] = [0, 0]
let port = 0
let home = ''
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
  const server = new ssh2.Server(
    { hostKeys: [hostKeys.ed25519.private, hostKeys.ecdsa.private] },
    (client) => {
      mostPending = Math.max(mostPending, ++pendingLogins)
      client.on('ready', () => pendingLogins--)
      client.on('error', () => undefined)
      client.on('authentication', (context) => {
        if (context.method !== 'publickey') return context.reject(['publickey'])
        logins++
        return context.accept()
      })
      client.on('session', (accept) => {
        accept().on('exec', (take) => {
          const channel = take()
          channel.write('hyperkube ready\n')
          channel.on('end', () => {
            channel.exit(0)
            channel.end()
          })
          channel.resume()
        })
      })
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the ssh server does not listen')
  ;({ port } = address)
  stack.defer(() => void server.close())
})
afterAll(async () => stack.disposeAsync())

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ssh-connector-'))
  const directory = home
  stack.defer(async () => rm(directory, { recursive: true, force: true }))
  await mkdir(join(home, '.ssh'))
  await writeFile(join(home, 'key'), generateTestKeyPair('ed25519').private, { mode: 0o600 })
  logins = 0
})

describe.each(['builtin', 'system'] as const)('with the %s client', (client) => {
  function buildCluster(hostKey?: string): Cluster {
    const ssh = { user: 'ada', key: 'key', port, client, ...(hostKey === undefined ? {} : { hostKey }) }
    return clusterSchema.parse({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Cluster',
      metadata: { name: 'shop' },
      spec: {
        kubernetes: '1.37.1',
        hosts: [{ name: 'cp1', address: '127.0.0.1', roles: ['control-plane', 'worker'], ssh }],
      },
    })
  }

  interface Opened {
    readonly connector: SshConnector
    readonly keys: HostKeyStore
    readonly connect: () => Promise<void>
    readonly findUnknown: () => ReturnType<SshConnector['findUnknownKeys']>
  }

  const operator = (): { user: string; home: string; machine: string; sshAgent: undefined } => ({
    user: 'ada',
    home,
    machine: 'laptop',
    sshAgent: undefined,
  })

  async function open(
    from: { readonly hostKey?: string; readonly pins?: readonly string[]; readonly forget?: boolean } = {},
  ): Promise<Opened> {
    const cluster = buildCluster(from.hostKey)
    const hostPins = from.pins === undefined ? {} : { cp1: [...from.pins] }
    const keys = new HostKeyStore({ ...identity, hostKeys: hostPins }, from.forget === true ? ['cp1'] : [])
    const connector = await openSshConnector(operator(), join(home, 'shop.yml'), cluster, keys)
    const { hosts } = cluster.spec
    return {
      connector,
      keys,
      connect: async () => {
        for (const host of hosts) await (await connector.connect(host, signal)).close()
      },
      findUnknown: async () => connector.findUnknownKeys(hosts, signal),
    }
  }

  const writeKnown = async (text: string, file = '.ssh/known_hosts'): Promise<void> =>
    writeFile(join(home, file), text)

  test('known_hosts files can be shared by several clusters', async () => {
    const names: (string | undefined)[] = []
    const findKnownHostKeys: FindKnownHostKeys = async ({ knownHosts }) => {
      names.push(knownHosts?.name)
      return { keys: [ed25519], cas: [], revoked: [] }
    }
    for (const name of ['shop', 'depot']) {
      const cluster = buildCluster()
      const keys = new HostKeyStore({ ...identity, hostKeys: {} })
      const shared = { ...operator(), findKnownHostKeys }
      const connector = await openSshConnector(shared, join(home, `${name}.yml`), cluster, keys)
      for (const host of cluster.spec.hosts) await (await connector.connect(host, signal)).close()
    }
    const name = `[127.0.0.1]:${port}`
    expect(names).toEqual([name, name])
  })

  test('an unknown key is refused before any key is offered', async () => {
    const { connect, keys } = await open()
    await expect(connect()).rejects.toMatchObject({
      code: 'SSH_HOST_KEY_UNKNOWN',
      host: 'cp1',
      message: `the ssh host key of cp1 is unknown: ${describePublicKey(ed25519)}`,
      hint: expect.stringContaining(
        `run: hyperkube plan --accept-new-host-keys -f ${join(home, 'shop.yml')}`,
      ),
    })
    expect([logins, keys.changed]).toEqual([0, false])
  })

  test('commands that only read refuse an unknown key too', async () => {
    const context = { operator: operator(), signal }
    await using remotes = await openRemotes(context, join(home, 'shop.yml'), buildCluster(), identity)
    await expect(remotes.findRemote('cp1')).rejects.toMatchObject({ code: 'SSH_HOST_KEY_UNKNOWN' })
    expect(logins).toBe(0)
  })

  test('an unknown key that was found and accepted is pinned', async () => {
    const { connect, keys, findUnknown } = await open()
    const unknown = await findUnknown()
    expect(unknown).toEqual([{ name: 'cp1', address: '127.0.0.1', port, key: ed25519, hasCa: false }])
    expect(logins).toBe(0)
    keys.accept(unknown)
    await connect()
    expect([keys.identity.hostKeys, keys.changed]).toEqual([{ cp1: [ed25519] }, true])
    expect(await findUnknown()).toEqual([])
  })

  test.each([
    ['the host name', () => `[127.0.0.1]:${port} ${ed25519}`, () => ed25519],
    [
      'the hashed host name',
      () => `${hashKnownHostsName(`[127.0.0.1]:${port}`, Buffer.alloc(20, 7))} ${ed25519}`,
      () => ed25519,
    ],
    ['a key type that ssh does not prefer', () => `[127.0.0.1]:${port} ${ecdsa}`, () => ecdsa],
  ])('a host key in known_hosts with %s is accepted and pinned', async (_name, text, expected) => {
    await writeKnown(text())
    const { connect, keys, findUnknown } = await open()
    expect(await findUnknown()).toEqual([])
    await connect()
    expect(keys.identity.hostKeys).toEqual({ cp1: [expected()] })
  })

  test('UserKnownHostsFile and HostKeyAlias of ~/.ssh/config are respected', async () => {
    await writeKnown(
      'Host 127.0.0.1\n  UserKnownHostsFile ~/none ~/mine\n  HostKeyAlias first\n',
      '.ssh/config',
    )
    await writeKnown(`first ${ed25519}\n`, 'mine')
    await (await open()).connect()
    expect(logins).toBeGreaterThan(0)
  })

  test('a known_hosts entry of the same address at another port is not used', async () => {
    await writeKnown(`127.0.0.1 ${ed25519}\n`)
    await expect((await open()).connect()).rejects.toMatchObject({ code: 'SSH_HOST_KEY_UNKNOWN' })
  })

  test('ssh.hostKey takes precedence over another pin', async () => {
    for (const hostKey of [fingerprint(ed25519), `${ecdsa} root@cp1`]) {
      const { connect, keys } = await open({
        hostKey,
        pins: [other],
      })
      await connect()
      expect(keys.identity.hostKeys).toEqual({ cp1: [hostKey.startsWith('SHA256') ? ed25519 : ecdsa] })
    }
  })

  test.each([
    ['cluster.yml', { hostKey: other }, '', 'SSH_HOST_KEY_CHANGED'],
    ['a pin', { pins: [other] }, '', 'SSH_HOST_KEY_CHANGED'],
    ['a pin, though known_hosts has the key', { pins: [other] }, ed25519, 'SSH_HOST_KEY_CHANGED'],
    ['known_hosts', {}, other, 'SSH_HOST_KEY_CHANGED'],
  ])('a key that differs from %s is refused', async (_name, from, known, code) => {
    await writeKnown(known === '' ? '' : `[127.0.0.1]:${port} ${known}\n`)
    await expect((await open(from)).connect()).rejects.toMatchObject({ code, host: 'cp1' })
    expect(logins).toBe(0)
  })

  test('a revoked key is refused, though pinned', async () => {
    await writeKnown(`@revoked * ${ed25519}\n`)
    await expect((await open({ pins: [ed25519] })).connect()).rejects.toMatchObject({
      code: 'SSH_HOST_KEY_REVOKED',
    })
    expect(logins).toBe(0)
  })

  test('--forget-host-key accepts the next key of that host', async () => {
    await writeKnown(`[127.0.0.1]:${port} ${other}\n`)
    const { connect, keys } = await open({ pins: [other], forget: true })
    await connect()
    expect(keys.identity.hostKeys).toEqual({ cp1: [ed25519] })
  })

  test('a CA does not vouch for a key without a certificate', async () => {
    await writeKnown(`@cert-authority * ${other}\n`)
    await expect((await open()).connect()).rejects.toMatchObject({
      code: 'SSH_HOST_KEY_UNKNOWN',
      // The built-in client does not support host certificates, so its hint suggests the system client.
      hint: expect.stringMatching(
        client === 'system' ? /shop\.yml$/ : /set ssh\.client to system in cluster\.yml$/,
      ),
    })
    expect(logins).toBe(0)
  })
})

test('at most 32 of 50 hosts log in at the same time', async () => {
  const ssh = { user: 'ada', key: 'key', port, hostKey: fingerprint(ed25519) }
  const cluster = clusterSchema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'shop' },
    spec: {
      kubernetes: '1.37.1',
      hosts: Array.from({ length: 50 }, (_, index) => ({
        ...{ name: `w${index}`, address: '127.0.0.1', roles: ['worker'], ssh },
      })),
    },
  })
  const operator = { user: 'ada', home, machine: 'laptop', sshAgent: undefined }
  const connector = await openSshConnector(
    operator,
    join(home, 'shop.yml'),
    cluster,
    new HostKeyStore(identity),
  )
  ;[pendingLogins, mostPending] = [0, 0]
  const remotes = await Promise.all(cluster.spec.hosts.map(async (host) => connector.connect(host, signal)))
  await Promise.all(remotes.map(async (remote) => remote.close()))
  connector.close()
  expect(remotes).toHaveLength(50)
  expect(mostPending).toBeGreaterThan(1)
  expect(mostPending).toBeLessThanOrEqual(32)
})
