import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openBastions } from '../../src/ssh/bastions.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import type { Hop } from '../../src/ssh/hop.ts'
import { parseSshConfig } from '../../src/ssh/ssh-config.ts'
import { resolveSshRoute, type SshRoute } from '../../src/ssh/ssh-route.ts'
import { connectWithSystemSsh } from '../../src/ssh/system-ssh.ts'
import {
  connectOptions,
  listens,
  readHostKey,
  setUpSshLab,
  signal,
  startExtraSshd,
  withRemote,
} from '../support/ssh-lab.ts'

const { clients, getHosts, routeTo } = setUpSshLab('ssh-route')
let lab: Lab
let h1: Host
let h2: Host
let local = ''

beforeAll(() => void ({ lab, h1, h2, local } = getHosts()))

describe.each(clients)('a route by the %s ssh', (name, connectTo) => {
  const behindBastion = (host: Host, port = 22): SshRoute => {
    const bastion = { address: h1.address, user: 'root', key: h1.ssh.keyFile }
    return routeTo(host, { port, bastion })
  }

  test('goes through a bastion whose key is verified too', async () => {
    const shownKeys: [string, string][] = []
    const verify = (key: string, hop: Hop): 'first-use' => {
      shownKeys.push([hop.name, key])
      return 'first-use'
    }
    await withRemote(connectTo(behindBastion(h2), { verify }), async (remote) => {
      const { stdout } = await remote.exec(['sh', '-c', 'hostname; echo "$SSH_CLIENT"'], { signal })
      expect(stdout).toMatch(new RegExp(`^h2\n${h1.address} `))
      await remote.upload({ bytes: randomBytes(4 << 20) }, '/root/through', { signal, mode: 0o600 })
    })
    expect(shownKeys).toEqual([
      [h1.address, await readHostKey(h1)],
      ['h2', await readHostKey(h2)],
    ])
  })

  test('is refused at a bastion with a wrong host key', async () => {
    const wrong = new Error('another machine')
    const verify = (_key: string, hop: Hop): 'first-use' => {
      if (hop.name !== 'h2') throw wrong
      return 'first-use'
    }
    await expect(connectTo(behindBastion(h2), { verify })).rejects.toBe(wrong)
  })

  test('reports that the bastion cannot reach the host, or is itself unreachable', async () => {
    await expect(connectTo(behindBastion(h2, 2))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h2',
      message: `the bastion ${h1.address} cannot reach ${h2.address} port 2: Connection refused`,
    })
    const bastion = { address: h1.address, user: 'root', port: 2, key: h1.ssh.keyFile }
    await expect(connectTo(routeTo(h2, { bastion }))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h2',
      message: `${h1.address} port 2 refuses the connection: nothing listens there`,
    })
  })

  test('reports a bastion that forbids TCP forwarding', async () => {
    await startExtraSshd(h1, 2206, 'AllowTcpForwarding=no')
    const bastion = { address: h1.address, user: 'root', port: 2206, key: h1.ssh.keyFile }
    await expect(connectTo(routeTo(h2, { bastion }))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h2',
      message: `the bastion ${h1.address} forbids TCP forwarding`,
    })
  })

  test('reports a port without a listener', async () => {
    await expect(connectTo(routeTo(h1, { port: 2 }))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h1',
      message: `${h1.address} port 2 refuses the connection: nothing listens there`,
    })
  })

  test('reports an unknown host name', async () => {
    const nowhere = { ...routeTo(h1), address: 'no-such-host.invalid', alias: 'no-such-host.invalid' }
    await expect(connectTo(nowhere)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: 'this machine cannot resolve the name no-such-host.invalid',
    })
  })

  test('reports a host that drops packets after a timeout', async () => {
    await h2.setDroppedSources([lab.gateway])
    try {
      const started = performance.now()
      await expect(connectTo(routeTo(h2), { timeout: 1000 })).rejects.toMatchObject({
        code: 'SSH_UNREACHABLE',
        message: `${h2.address} port 22 does not respond within 1.0 s`,
      })
      expect(performance.now() - started).toBeLessThan(8000)
    } finally {
      await lab.rejoin()
    }
  })

  test('ends with the abort of the caller', async () => {
    await h2.setDroppedSources([lab.gateway])
    try {
      await expect(connectTo(routeTo(h2), { signal: AbortSignal.timeout(300) })).rejects.toThrow(/timeout/)
    } finally {
      await lab.rejoin()
    }
  })

  test('reports a server that does not speak ssh, and a silent server', async () => {
    await h1.script(`systemd-run -q --collect socat TCP-LISTEN:2301,fork,reuseaddr "SYSTEM:printf 'HTTP/1.1 400 Bad Request\\r\\n\\r\\n'" || true
      systemd-run -q --collect socat TCP-LISTEN:2302,fork,reuseaddr "SYSTEM:sleep 30" || true`)
    await pollUntil(
      'both to listen',
      async () => {
        return (await listens(h1, 2301)) && listens(h1, 2302)
      },
      { timeoutMs: 5000 },
    )
    const odd = await connectTo(routeTo(h1, { port: 2301 })).catch((error: unknown) => error)
    expect(odd).toMatchObject({ code: 'SSH_UNREACHABLE' })
    const silent = await connectTo(routeTo(h1, { port: 2302 }), { timeout: 1000 }).catch(
      (error: unknown) => error,
    )
    expect(silent).toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: expect.stringMatching(/sends nothing|does not respond/),
    })
  })

  test('reports a connection that drops packets as lost', async () => {
    const remote = await connectTo(routeTo(h2), { keepalive: { interval: 1000, count: 2 } })
    try {
      const running = remote.exec(['sleep', '120'], { signal })
      const program = await remote.open(['cat'], { signal })
      program.stdout.resume()
      const stream = await remote.dial('127.0.0.1', 22, { signal })
      const closed = new Promise<void>((resolve) => {
        stream.resume().once('close', resolve)
      })
      await h2.setDroppedSources([lab.gateway])
      const started = performance.now()
      await expect(running).rejects.toMatchObject({ code: 'SSH_LOST', host: 'h2' })
      expect(performance.now() - started).toBeLessThan(10_000)
      await expect(program.ended).rejects.toMatchObject({ code: 'SSH_LOST' })
      await closed
      await expect(remote.dial('127.0.0.1', 22, { signal })).rejects.toMatchObject({ code: 'SSH_LOST' })
      await expect(remote.exec(['true'], { signal })).rejects.toMatchObject({ code: 'SSH_LOST' })
    } finally {
      await lab.rejoin()
      await remote.close()
    }
  })

  test('reports a crashed host as lost, and as unreachable afterwards', async () => {
    const remote = await connectTo(routeTo(h2), { keepalive: { interval: 1000, count: 2 } })
    try {
      const running = remote.exec(['sleep', '120'], { signal })
      running.catch(() => undefined)
      await remote.exec(['true'], { signal })
      await h2.crash()
      await expect(running).rejects.toMatchObject({ code: 'SSH_LOST' })
      await expect(connectTo(routeTo(h2))).rejects.toMatchObject({ code: 'SSH_UNREACHABLE', host: 'h2' })
    } finally {
      await remote.close()
      await lab.start('h2')
    }
  })

  test('leaves no processes and no files after it is closed', async () => {
    await withRemote(connectTo(routeTo(h1)), async (remote) => {
      await remote.exec(['true'], { signal })
      await remote.dial('127.0.0.1', 22, { signal })
    })
    // close() ends an open connection but does not wait for its processes to exit.
    const listLeftovers = async (): Promise<string> =>
      (await runProgram(['pgrep', '-f', `ssh.*${local}/hyperkube-ssh-`], { allowFailure: true })).stdout
    await pollUntil(`programs of ${name} ssh to end`, async () => (await listLeftovers()) === '', {
      timeoutMs: 5000,
    })
    expect((await runProgram(['find', local, '-name', 'hyperkube-ssh-*'])).stdout).toBe('')
  })
})

test('the built-in ssh reports a missing common algorithm, and the system ssh connects', async () => {
  await startExtraSshd(h1, 2200, 'KexAlgorithms=sntrup761x25519-sha512@openssh.com')
  await expect(connectBuiltIn(routeTo(h1, { port: 2200 }), connectOptions)).rejects.toMatchObject({
    code: 'SSH_KEX',
    message: `${h1.address} port 2200 and hyperkube have no ssh algorithm in common: no key exchange algorithm`,
    hint: expect.stringContaining('ssh.client'),
  })
  await withRemote(connectWithSystemSsh(routeTo(h1, { port: 2200 }), connectOptions), async (remote) => {
    expect((await remote.exec(['hostname'], { signal })).stdout).toBe('h1\n')
  })
})

test('a ProxyCommand is refused by the built-in ssh and followed by the system ssh', async () => {
  const include = join(local, 'ssh_config')
  const through = `ssh -F none -i ${h1.ssh.keyFile} -o UserKnownHostsFile=${h1.ssh.knownHosts} -W %h:%p root@${h1.address}`
  await writeFile(include, `Host ${h2.address}\n  ProxyCommand ${through}\n`)
  const config = parseSshConfig(await readFile(include, 'utf8'))
  const wanted = { name: 'h2', address: h2.address, ssh: { user: 'root', key: h2.ssh.keyFile } }
  const route = resolveSshRoute(wanted, {}, config, { user: 'nobody', home: local, directory: local })
  await expect(connectBuiltIn(route, connectOptions)).rejects.toMatchObject({
    code: 'SSH_CONFIG_SETTING',
    message: `~/.ssh/config sets ProxyCommand for ${h2.address}, which only the ssh program supports`,
  })
  await withRemote(
    connectWithSystemSsh(route, { ...connectOptions, include, temporary: local }),
    async (remote) => {
      const { stdout } = await remote.exec(['sh', '-c', 'hostname; echo "$SSH_CLIENT"'], { signal })
      expect(stdout).toMatch(new RegExp(`^h2\n${h1.address} `))
    },
  )
})

test('hosts behind one bastion share one connection to it', async () => {
  const bastions = openBastions()
  const bastion = { address: h1.address, user: 'root', key: h1.ssh.keyFile }
  try {
    const remotes = await settleAll(
      [1, 2, 3, 4, 5].map(async () =>
        connectBuiltIn(routeTo(h2, { bastion }), { ...connectOptions, bastions }),
      ),
    )
    const { stdout } = await h1.exec([
      'ss',
      '-Htn',
      'state',
      'established',
      'sport',
      '=',
      ':22',
      'dst',
      lab.gateway,
    ])
    // All remotes must share one connection to the bastion. The lab itself may have a second connection.
    expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(2)
    await settleAll(remotes.map(async (remote) => remote.close()))
  } finally {
    bastions.close()
  }
})
