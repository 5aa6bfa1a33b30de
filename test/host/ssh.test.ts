import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect as dialLocal, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { startHttpsTestServer } from '../../src/kit/testing/https-test-server.ts'
import { createTestCa } from '../../src/kit/testing/test-ca.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import { createLocalRemote } from '../../src/ssh/local-remote.ts'
import type { Remote } from '../../src/ssh/remote.ts'
import { connectWithSystemSsh } from '../../src/ssh/system-ssh.ts'
import { startEchoServer } from '../../src/ssh/testing/echo-server.ts'
import { testRemoteContract } from '../../src/ssh/testing/remote-contract.ts'
import {
  connectOptions,
  listens,
  setUpSshLab,
  signal,
  startExtraSshd,
  withRemote,
} from '../support/ssh-lab.ts'

const small = '/mnt/small'
const { clients, getHosts, routeTo } = setUpSshLab('ssh')
let lab: Lab
let h1: Host
let h2: Host
let local = ''

beforeAll(() => void ({ lab, h1, h2, local } = getHosts()))
beforeAll(async () => {
  await mkdir(join(local, 'small'))
  await mkdir(join(local, 'work'))
  await runProgram(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', join(local, 'small')])
  await h1.script(`mkdir -p ${small} && mount -t tmpfs -o size=8m tmpfs ${small}
    mkdir -p /root/own /root/system ${small}/own ${small}/system`)
})
afterAll(async () => runProgram(['umount', join(local, 'small')], { allowFailure: true }))

describe('the contract of remotes', () => {
  let builtIn: Remote
  let system: Remote
  beforeAll(async () => {
    builtIn = await connectBuiltIn(routeTo(h1), connectOptions)
    system = await connectWithSystemSsh(routeTo(h1), { ...connectOptions, temporary: local })
  })
  afterAll(async () => {
    await builtIn.close()
    await system.close()
  })
  const common = { root: true, megabytes: 100 }
  const port = 2310
  const echo = async (): Promise<number> => {
    if (await listens(h1, port)) return port
    // With -t 60, socat keeps the other direction open for 60 s after one side has closed.
    await h1.script(`systemd-run -q --collect socat -t 60 TCP-LISTEN:${port},fork,reuseaddr EXEC:cat`)
    await pollUntil('the echo to listen', async () => listens(h1, port), { timeoutMs: 10_000 })
    return port
  }
  testRemoteContract('the built-in ssh', {
    ...common,
    remote: () => builtIn,
    connectAnother: async () => connectBuiltIn(routeTo(h1), connectOptions),
    echo,
    directory: () => '/root/own',
    smallDirectory: () => `${small}/own`,
    endsPrograms: false,
    killed: 137,
  })
  testRemoteContract('the system ssh', {
    ...common,
    remote: () => system,
    connectAnother: async () => connectWithSystemSsh(routeTo(h1), { ...connectOptions, temporary: local }),
    echo,
    directory: () => '/root/system',
    smallDirectory: () => `${small}/system`,
    endsPrograms: false,
    // The system's ssh reports 255 when the program was killed by a signal.
    killed: 255,
  })
  testRemoteContract('this machine', {
    ...common,
    remote: () => createLocalRemote('here'),
    connectAnother: async () => createLocalRemote('here'),
    echo: startEchoServer(),
    directory: () => join(local, 'work'),
    smallDirectory: () => join(local, 'small'),
    endsPrograms: true,
    killed: 137,
  })

  test('the built-in ssh uploads at no less than a third of the rate of the system ssh', async () => {
    const path = join(local, 'load')
    const megabytes = 100
    await writeFile(path, randomBytes(megabytes << 20))
    const rate = async (remote: Remote): Promise<number> => {
      const started = performance.now()
      await remote.upload({ path }, '/root/load', { signal, mode: 0o600 })
      return megabytes / ((performance.now() - started) / 1000)
    }
    // Alternates between both clients and compares their best rates, because other load on the machine that
    // runs the tests distorts single results.
    const rates: { own: number; system: number }[] = []
    for (let attempt = 0; attempt < 3; attempt++)
      rates.push({ own: await rate(builtIn), system: await rate(system) })
    const best = {
      own: Math.max(...rates.map((one) => one.own)),
      system: Math.max(...rates.map((one) => one.system)),
    }
    process.stderr.write(
      `upload of ${megabytes} MiB, best of 3: ours ${best.own.toFixed(0)} MiB/s, the system's ${best.system.toFixed(0)} MiB/s\n`,
    )
    expect(best.own).toBeGreaterThan(best.system / 3)
    await h1.exec(['rm', '/root/load'])
  })
})

test('the built-in ssh reports a host that refuses another session', async () => {
  await startExtraSshd(h1, 2205, 'MaxSessions=1')
  await withRemote(connectBuiltIn(routeTo(h1, { port: 2205 }), connectOptions), async (remote) => {
    const program = await remote.open(['cat'], { signal })
    program.stdout.resume()
    await expect(remote.exec(['true'], { signal })).rejects.toMatchObject({ code: 'SSH_SESSION_REFUSED' })
    program.stdin.end()
    await program.ended
  })
})

describe.each(clients)('connections dialled from a host by the %s ssh', (name, connectTo) => {
  test('have their own error if sshd forbids forwarding', async () => {
    await startExtraSshd(h1, 2206, 'AllowTcpForwarding=no')
    await withRemote(connectTo(routeTo(h1, { port: 2206 })), async (remote) => {
      for (const port of [22, 2]) {
        await expect(remote.dial('127.0.0.1', port, { signal })).rejects.toMatchObject({
          code: 'SSH_FORWARD_FORBIDDEN',
          host: 'h1',
          message: `sshd forbids TCP forwarding to 127.0.0.1 port ${port}`,
          hint: expect.stringContaining('AllowTcpForwarding yes'),
        })
      }
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('reach other hosts, and report why they fail', async () => {
    await withRemote(connectTo(routeTo(h1)), async (remote) => {
      const stream = await remote.dial(h2.address, 22, { signal })
      const [greeting]: unknown[] = await once(stream, 'data')
      expect(String(greeting)).toMatch(/^SSH-2.0-/)
      stream.destroy()
      await expect(remote.dial('no-such-host.invalid', 22, { signal })).rejects.toMatchObject({
        code: 'SSH_DIAL_REFUSED',
        message: expect.stringMatching(/^cannot connect to no-such-host.invalid port 22: \S/),
      })
    })
  })

  test('carry requests to the Kubernetes API', async () => {
    const ca = await createTestCa()
    const items = [{ text: 'x'.repeat(1 << 20) }]
    await using server = await startHttpsTestServer(ca, () => ({ json: { items } }))
    // The relay listens on the lab gateway, because hosts cannot reach the loopback address of the machine
    // that runs the tests.
    const { port } = new URL(server.url)
    const relay = createServer((socket) => {
      pipeline(socket, dialLocal({ host: '127.0.0.1', port: Number(port) }), socket, () => undefined)
    })
    await once(relay.listen(0, lab.gateway), 'listening')
    await withRemote(connectTo(routeTo(h1)), async (remote) => {
      const address = relay.address()
      const relayPort = typeof address === 'object' ? (address?.port ?? 0) : 0
      using api = new KubeClient({
        servers: ['https://127.0.0.1:2', server.url],
        ca: ca.certificate,
        credentials: ca.client,
        signal,
        dial: async (host, wanted, dialSignal) =>
          wanted === 2
            ? remote.dial(host, wanted, { signal: dialSignal })
            : remote.dial(lab.gateway, relayPort, { signal: dialSignal }),
      })
      const get = { method: 'GET', path: '/api/v1/nodes' } as const
      const responses = await Promise.all([1, 2, 3, 4].map(async () => api.request(get)))
      responses.push(await api.request(get))
      expect(responses).toEqual(responses.map(() => ({ items })))
      expect(new Set(server.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(4)
    }).finally(() => relay.close())
  })

  test('are closed on the host after many dials', async () => {
    await withRemote(connectTo(routeTo(h1)), async (remote) => {
      const started = performance.now()
      const attempts = 20
      for (let attempt = 0; attempt < attempts; attempt++) {
        const stream = await remote.dial('127.0.0.1', 22, { signal })
        stream.destroy()
        await expect(remote.dial('127.0.0.1', 2, { signal })).rejects.toMatchObject({
          code: 'SSH_DIAL_REFUSED',
        })
      }
      const each = (performance.now() - started) / attempts / 2
      process.stderr.write(`a dial by ${name} ssh: ${each.toFixed(1)} ms\n`)
      const connections = async (): Promise<string> =>
        (await h1.exec(['ss', '-Htn', 'state', 'established', 'dst', '127.0.0.1:22'])).stdout
      await pollUntil('all to be closed', async () => (await connections()) === '', { timeoutMs: 10_000 })
    })
  })
})

describe.each(clients)('a user other than root by the %s ssh', (_name, connectTo) => {
  beforeAll(async () => {
    const key = (await readFile(`${h1.ssh.keyFile}.pub`, 'utf8')).trim()
    await h1.script(`
      for user in free prompted unknown limited; do
        id -u "$user" >/dev/null 2>&1 || useradd -m -s /bin/bash "$user"
        install -d -o "$user" -m 700 "/home/$user/.ssh"
        echo '${key}' > "/home/$user/.ssh/authorized_keys"
        chown "$user" "/home/$user/.ssh/authorized_keys"
      done
      # A shell that prints a greeting at every login.
      sed -i '1i echo "welcome to this machine"' /home/free/.bashrc
      echo 'free ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/free
      echo 'prompted ALL=(ALL) ALL' > /etc/sudoers.d/prompted
      echo 'limited ALL=(ALL) NOPASSWD: /usr/bin/id' > /etc/sudoers.d/limited`)
  })

  test('runs commands and uploads files as root through sudo', async () => {
    await withRemote(connectTo(routeTo(h1, { user: 'free' })), async (remote) => {
      const asRoot = await remote.exec(['cat', '/etc/shadow'], { signal, root: true })
      const asUser = await remote.exec(['cat', '/etc/shadow'], { signal })
      expect([asRoot.code, asUser.code]).toEqual([0, 1])
      const bytes = randomBytes(3 << 20)
      await remote.upload({ bytes }, '/etc/by-sudo', { signal, mode: 0o640, root: true })
      const there = await remote.exec(['cat', '/etc/by-sudo'], { signal, root: true })
      expect(there.bytes.subarray(-bytes.length).equals(bytes)).toBe(true)
      expect((await remote.exec(['stat', '-c', '%U %a', '/etc/by-sudo'], { signal })).stdout).toContain(
        'root 640\n',
      )
      await expect(remote.upload({ bytes }, '/etc/by-user', { signal, mode: 0o640 })).rejects.toMatchObject({
        code: 'UPLOAD_FAILED',
        message: expect.stringContaining('Permission denied'),
      })
    })
  })

  test.each(['prompted', 'unknown', 'limited'])(
    '%s gets an error that names the missing sudo permission',
    async (user) => {
      await withRemote(connectTo(routeTo(h1, { user })), async (remote) => {
        // sudo requires a password unless NOPASSWD applies to all commands. It does not report whether the
        // user has any sudo permissions, so the message names both causes.
        await expect(remote.exec(['id'], { signal, root: true })).rejects.toMatchObject({
          code: 'SSH_SUDO_PASSWORD',
          host: 'h1',
          message: `sudo requires a password for ${user}, or does not permit ${user} at all`,
          hint: `as root on the host: echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`,
        })
        expect((await remote.exec(['id', '-un'], { signal })).stdout).toBe(`${user}\n`)
      })
    },
  )

  test('gets its own error on a host without sudo, and works after sudo is installed', async () => {
    await h1.exec(['mv', '/usr/bin/sudo', '/usr/bin/sudo.away'])
    await withRemote(connectTo(routeTo(h1, { user: 'free' })), async (remote) => {
      const rootCommand = remote.exec(['id'], { signal, root: true })
      await rootCommand.catch(() => undefined)
      await h1.exec(['mv', '/usr/bin/sudo.away', '/usr/bin/sudo'])
      await expect(rootCommand).rejects.toMatchObject({
        code: 'SSH_NO_SUDO',
        message: 'free is not root, and sudo is not installed',
      })
      expect((await remote.exec(['id', '-u'], { signal, root: true })).stdout).toContain('0\n')
    })
  })
})
