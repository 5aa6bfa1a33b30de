import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect as dialLocal, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { checkHostKey, fingerprint } from '../../src/identity/host-key.ts'
import { runProgram } from '../../src/kit/command.ts'
import { createTestCa } from '../../src/kit/testing/test-ca.ts'
import { startHttpsTestServer } from '../../src/kit/testing/https-test-server.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { openBastions } from '../../src/ssh/bastions.ts'
import { connectBuiltIn } from '../../src/ssh/connect-built-in.ts'
import { testRemoteContract } from '../../src/ssh/testing/remote-contract.ts'
import { startEchoServer } from '../../src/ssh/testing/echo-server.ts'
import { createLocalRemote } from '../../src/ssh/local-remote.ts'
import type { ConnectOptions } from '../../src/ssh/options.ts'
import { type SshRoute, resolveSshRoute, type SshSettings } from '../../src/ssh/ssh-route.ts'
import type { Hop } from '../../src/ssh/hop.ts'
import type { Remote } from '../../src/ssh/remote.ts'
import { connectWithSystemSsh } from '../../src/ssh/system-ssh.ts'
import { noSshConfig, parseSshConfig } from '../../src/ssh/ssh-config.ts'
import { openFreshLab } from '../support/lab.ts'

const { signal } = new AbortController()
const small = '/mnt/small'

let lab: Lab
let h1: Host
let h2: Host
let local = ''

beforeAll(async () => {
  lab = await openFreshLab('ssh')
  const [first, second] = await lab.up(['h1', 'h2'])
  if (first === undefined || second === undefined) throw new Error('two hosts were asked for')
  h1 = first
  h2 = second
  local = await mkdtemp(join(tmpdir(), 'hyperkube-e2e-ssh-'))
  await mkdir(join(local, 'small'))
  await mkdir(join(local, 'work'))
  await runProgram(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', join(local, 'small')])
  await h1.script(`mkdir -p ${small} && mount -t tmpfs -o size=8m tmpfs ${small}
    mkdir -p /root/own /root/system ${small}/own ${small}/system`)
})
afterAll(async () => {
  await runProgram(['umount', join(local, 'small')], { allowFailure: true })
  await rm(local, { recursive: true, force: true })
  await lab.down()
})

function routeTo(host: Host, ssh: SshSettings = {}): SshRoute {
  const settings = { user: 'root', key: host.ssh.keyFile, ...ssh }
  const wanted = { name: host.name, address: host.address, ssh: settings }
  return resolveSshRoute(wanted, {}, noSshConfig, { user: 'nobody', home: local, directory: local })
}

/** Reads the host key that the lab gave to a host. */
async function readHostKey(host: Host): Promise<string> {
  const [, type = '', blob = ''] = (await readFile(host.ssh.knownHosts, 'utf8')).split(' ')
  return `${type} ${blob}`
}

async function listens(port: number): Promise<boolean> {
  return (await h1.exec(['ss', '-Htln', 'sport', '=', `:${port}`])).stdout !== ''
}

/**
 * Starts another sshd on the first host with its own settings. Waits until it listens, because sshd goes into
 * the background earlier.
 */
async function extraSshd(port: number, ...settings: readonly string[]): Promise<void> {
  if (await listens(port)) return
  const set = ['PidFile=none', ...settings].flatMap((setting) => ['-o', setting])
  await h1.exec(['/usr/sbin/sshd', '-p', String(port), ...set])
  await pollUntil(`sshd on port ${port}`, async () => listens(port), { timeoutMs: 10_000 })
}

const options: ConnectOptions = { signal, verify: () => 'first-use', timeout: 20_000 }

const clients = [
  [
    'ours',
    async (route: SshRoute, more: Partial<ConnectOptions> = {}) =>
      connectBuiltIn(route, { ...options, ...more }),
  ],
  [
    "the system's",
    async (route: SshRoute, more: Partial<ConnectOptions> = {}) =>
      connectWithSystemSsh(route, { ...options, ...more, temporary: local }),
  ],
] as const

/** Runs a function with a connection, and always closes it. */
async function withRemote<T>(remote: Promise<Remote>, use: (remote: Remote) => Promise<T>): Promise<T> {
  const opened = await remote
  try {
    return await use(opened)
  } finally {
    await opened.close()
  }
}

describe('the contract', () => {
  let builtIn: Remote
  let system: Remote
  beforeAll(async () => {
    builtIn = await connectBuiltIn(routeTo(h1), options)
    system = await connectWithSystemSsh(routeTo(h1), { ...options, temporary: local })
  })
  afterAll(async () => {
    await builtIn.close()
    await system.close()
  })
  const common = { root: true, megabytes: 100 }
  const port = 2310
  const echo = async (): Promise<number> => {
    if (await listens(port)) return port
    // With -t 60, socat keeps the other direction open for 60 s after one side has closed.
    await h1.script(`systemd-run -q --collect socat -t 60 TCP-LISTEN:${port},fork,reuseaddr EXEC:cat`)
    await pollUntil('the echo to listen', async () => listens(port), { timeoutMs: 10_000 })
    return port
  }
  testRemoteContract('our own ssh', {
    ...common,
    remote: () => builtIn,
    connectAnother: async () => connectBuiltIn(routeTo(h1), options),
    echo,
    directory: () => '/root/own',
    smallDirectory: () => `${small}/own`,
    endsPrograms: false,
    killed: 137,
  })
  testRemoteContract("the system's ssh", {
    ...common,
    remote: () => system,
    connectAnother: async () => connectWithSystemSsh(routeTo(h1), { ...options, temporary: local }),
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

  test('our own ssh sends files not much slower than the system’s', async () => {
    const path = join(local, 'load')
    const megabytes = 100
    await writeFile(path, randomBytes(megabytes << 20))
    const rate = async (remote: Remote): Promise<number> => {
      const started = performance.now()
      await remote.upload({ path }, '/root/load', { signal, mode: 0o600 })
      return megabytes / ((performance.now() - started) / 1000)
    }
    // Alternates between both clients and compares their best rates, because other load on the machine
    // distorts single results.
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

describe.each(clients)('the host’s key, by %s ssh', (_name, connectTo) => {
  /** Lists login attempts in the log of sshd. */
  const logins = async (): Promise<string[]> => {
    const { stdout } = await h1.exec(['journalctl', '-u', 'ssh', '-o', 'cat', '--no-pager'])
    return stdout.split('\n').filter((line) => /Accepted|Failed|authenticating user/.test(line))
  }

  test('on first use it is shown to the caller, and what the caller says is the error', async () => {
    const shownKeys: [string, string][] = []
    const changed = new Error('another machine')
    const verify = (key: string, hop: Hop): 'first-use' => {
      shownKeys.push([key, hop.name])
      if (shownKeys.length > 1) throw changed
      return 'first-use'
    }
    await withRemote(connectTo(routeTo(h1), { verify }), async (remote) => {
      expect((await remote.exec(['hostname'], { signal })).stdout).toBe('h1\n')
    })
    await expect(connectTo(routeTo(h1), { verify })).rejects.toBe(changed)
    const key = await readHostKey(h1)
    expect(shownKeys).toEqual([
      [key, 'h1'],
      [key, 'h1'],
    ])
  })

  test('one that is pinned needs no question', async () => {
    const key = await readHostKey(h1)
    const verify = (): never => {
      throw new Error('verify was called')
    }
    await withRemote(connectTo(routeTo(h1), { verify, pinned: () => [key] }), async (remote) => {
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('one that is not the pinned one is refused before anybody logs in', async () => {
    const [first, other] = [await readHostKey(h1), await readHostKey(h2)]
    const changed = new Error('changed')
    const before = await logins()
    const verify = (key: string): never => {
      expect(key).toBe(first)
      throw changed
    }
    await expect(connectTo(routeTo(h1), { verify, pinned: () => [other] })).rejects.toBe(changed)
    const offered = (await logins()).slice(before.length).filter((line) => /Accepted|Failed/.test(line))
    expect(offered).toEqual([])
  })

  test('a changed one is reported with the error of checkHostKey', async () => {
    const identity = { hostKeys: { h1: [await readHostKey(h2)] } }
    const verify = (key: string, hop: Hop): 'known' | 'first-use' => checkHostKey(identity, hop.name, key)
    for (const pinned of [[], identity.hostKeys.h1]) {
      await expect(connectTo(routeTo(h1), { verify, pinned: () => pinned })).rejects.toMatchObject({
        code: 'SSH_HOST_KEY_CHANGED',
        host: 'h1',
        message: expect.stringContaining(`now it is ${fingerprint(await readHostKey(h1))}`),
      })
    }
  })

  test('of several kinds the pinned one is asked for', async () => {
    await h1.script(
      `cd /root; [ -e k_ec ] || { ssh-keygen -q -t ed25519 -N '' -f k_ed; ssh-keygen -q -t ecdsa -N '' -f k_ec; }`,
    )
    await extraSshd(2203, 'HostKey=/root/k_ed', 'HostKey=/root/k_ec')
    const [type = '', blob = ''] = (await h1.exec(['cat', '/root/k_ec.pub'])).stdout.split(' ')
    const pinned = `${type} ${blob}`
    const verify = (key: string): never => {
      throw new Error(`shown ${key}`)
    }
    await withRemote(
      connectTo(routeTo(h1, { port: 2203 }), { verify, pinned: () => [pinned] }),
      async (remote) => {
        expect((await remote.exec(['true'], { signal })).code).toBe(0)
      },
    )
  })
})

test('our own ssh says nothing of the user before the host’s key is right', async () => {
  const journal = async (): Promise<string> =>
    (await h1.exec(['journalctl', '-u', 'ssh', '-o', 'cat', '--no-pager'])).stdout
  const verify = (): never => {
    throw new Error('wrong')
  }
  await expect(connectBuiltIn(routeTo(h1, { user: 'early' }), { ...options, verify })).rejects.toThrow(
    'wrong',
  )
  await expect(connectBuiltIn(routeTo(h1, { user: 'later' }), options)).rejects.toMatchObject({
    code: 'SSH_NO_KEY_ACCEPTED',
  })
  const log = await pollUntil(
    'sshd to log the second',
    async () => {
      const text = await journal()
      return text.includes('later') && text
    },
    { timeoutMs: 10_000 },
  )
  expect(log).not.toContain('early')
})

describe.each(clients)('keys, by %s ssh', (_name, connectTo) => {
  const makeKey = async (name: string, passphrase = ''): Promise<string> => {
    const path = join(local, `${name}-${randomBytes(4).toString('hex')}`)
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', path])
    return path
  }

  test('a wrong one is named, with what the host takes', async () => {
    const key = await makeKey('wrong')
    await expect(connectTo(routeTo(h1, { key }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      host: 'h1',
      message: expect.stringMatching(
        new RegExp(`^root@${h1.address} takes none of our keys: ${key} \\(SHA256:[^)]+\\)`),
      ),
      hint: `ssh-copy-id root@${h1.address}`,
    })
  })

  test('several are tried in order', async () => {
    const wrong = await makeKey('wrong')
    const keys = [wrong, h1.ssh.keyFile].map((path) => ({ path, from: 'settings' as const }))
    await withRemote(connectTo({ ...routeTo(h1), keys }), async (remote) => {
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('one that is not there is named', async () => {
    await expect(connectTo(routeTo(h1, { key: 'none' }))).rejects.toMatchObject({
      code: 'SSH_KEY_NOT_READ',
      message: expect.stringContaining(join(local, 'none')),
    })
  })

  test('a locked one is for the agent', async () => {
    const key = await makeKey('locked', 'secret')
    await h1.exec(['tee', '-a', '/root/.ssh/authorized_keys'], { input: await readFile(`${key}.pub`) })
    await expect(connectTo(routeTo(h1, { key }))).rejects.toMatchObject({
      code: 'SSH_KEY_ENCRYPTED',
      hint: `ssh-add ${key}`,
    })
    const { socket, end } = await startAgent(key, 'secret')
    try {
      await withRemote(connectTo(routeTo(h1, { key }), { agent: socket }), async (remote) => {
        expect((await remote.exec(['true'], { signal })).code).toBe(0)
      })
    } finally {
      await end()
    }
  })

  test('a host that accepts only passwords has its own message', async () => {
    await extraSshd(
      2201,
      'PubkeyAuthentication=no',
      'PasswordAuthentication=yes',
      'KbdInteractiveAuthentication=yes',
    )
    await expect(connectTo(routeTo(h1, { port: 2201 }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      message: expect.stringMatching(
        /takes no keys, only (password,keyboard|password, keyboard)-interactive/,
      ),
    })
  })

  test('a host that wants more than a key has its own message', async () => {
    await extraSshd(2202, 'PasswordAuthentication=yes', 'AuthenticationMethods=publickey,password')
    await expect(connectTo(routeTo(h1, { port: 2202 }))).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      message: `root@${h1.address} wants more than a key: password`,
    })
  })

  test('a host that hangs up after too many keys has its own hint', async () => {
    await extraSshd(2204, 'MaxAuthTries=2')
    const paths = [await makeKey('one'), await makeKey('two'), await makeKey('three')]
    const keys = paths.map((path) => ({ path, from: 'settings' as const }))
    await expect(connectTo({ ...routeTo(h1, { port: 2204 }), keys })).rejects.toMatchObject({
      code: 'SSH_NO_KEY_ACCEPTED',
      hint: 'name the right one in cluster.yml: ssh.key',
    })
  })

  async function startAgent(
    key: string,
    passphrase: string,
  ): Promise<{ socket: string; end: () => Promise<void> }> {
    const socket = join(local, `agent-${randomBytes(4).toString('hex')}`)
    const { stdout } = await runProgram(['ssh-agent', '-s', '-a', socket])
    const pid = /SSH_AGENT_PID=(\d+)/.exec(stdout)?.[1] ?? ''
    const askpass = join(local, 'askpass')
    await writeFile(askpass, `#!/bin/sh\necho ${passphrase}\n`, { mode: 0o700 })
    const askpassEnv = {
      SSH_AUTH_SOCK: socket,
      SSH_ASKPASS: askpass,
      SSH_ASKPASS_REQUIRE: 'force',
      DISPLAY: 'none',
    }
    await runProgram(['ssh-add', '-q', key], { env: { ...process.env, ...askpassEnv } })
    return { socket, end: async () => void (await runProgram(['kill', pid])) }
  }
})

describe.each(clients)('the way, by %s ssh', (name, connectTo) => {
  const behindBastion = (host: Host, port = 22): SshRoute => {
    const bastion = { address: h1.address, user: 'root', key: h1.ssh.keyFile }
    return routeTo(host, { port, bastion })
  }

  test('goes through a bastion, whose key is verified too', async () => {
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

  test('ends at a bastion that is another machine', async () => {
    const wrong = new Error('another machine')
    const verify = (_key: string, hop: Hop): 'first-use' => {
      if (hop.name !== 'h2') throw wrong
      return 'first-use'
    }
    await expect(connectTo(behindBastion(h2), { verify })).rejects.toBe(wrong)
  })

  test('says that the bastion is the obstacle', async () => {
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

  test('says when a bastion forbids connections', async () => {
    await extraSshd(2206, 'AllowTcpForwarding=no')
    const bastion = { address: h1.address, user: 'root', port: 2206, key: h1.ssh.keyFile }
    await expect(connectTo(routeTo(h2, { bastion }))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h2',
      message: `the bastion ${h1.address} forbids connections through it`,
    })
  })

  test('ends at a port with nothing behind it', async () => {
    await expect(connectTo(routeTo(h1, { port: 2 }))).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      host: 'h1',
      message: `${h1.address} port 2 refuses the connection: nothing listens there`,
    })
  })

  test('ends at an unknown name', async () => {
    const nowhere = { ...routeTo(h1), address: 'no-such-host.invalid', alias: 'no-such-host.invalid' }
    await expect(connectTo(nowhere)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: 'no-such-host.invalid is a name that this machine does not know',
    })
  })

  test('ends in a black hole, after a time', async () => {
    await h2.setDroppedSources([lab.gateway])
    try {
      const started = performance.now()
      await expect(connectTo(routeTo(h2), { timeout: 1000 })).rejects.toMatchObject({
        code: 'SSH_UNREACHABLE',
        message: `${h2.address} port 22 does not answer: nothing came back within 1.0 s`,
      })
      expect(performance.now() - started).toBeLessThan(8000)
    } finally {
      await lab.rejoin()
    }
  })

  test('ends when the caller gives up', async () => {
    await h2.setDroppedSources([lab.gateway])
    try {
      await expect(connectTo(routeTo(h2), { signal: AbortSignal.timeout(300) })).rejects.toThrow(/timeout/)
    } finally {
      await lab.rejoin()
    }
  })

  test('ends at what does not speak ssh, and at what does not speak', async () => {
    await h1.script(`systemd-run -q --collect socat TCP-LISTEN:2301,fork,reuseaddr "SYSTEM:printf 'HTTP/1.1 400 Bad Request\\r\\n\\r\\n'" || true
      systemd-run -q --collect socat TCP-LISTEN:2302,fork,reuseaddr "SYSTEM:sleep 30" || true`)
    await pollUntil(
      'both to listen',
      async () => {
        return (await listens(2301)) && listens(2302)
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
      message: expect.stringMatching(/says nothing|does not answer/),
    })
  })

  test('a cut in the middle is noticed', async () => {
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

  test('a host that goes down in the middle is noticed, and is not there afterwards', async () => {
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

  test('leaves no program behind', async () => {
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

test('our own ssh says what it has in common with no host, and the system’s gets there', async () => {
  await extraSshd(2200, 'KexAlgorithms=sntrup761x25519-sha512@openssh.com')
  await expect(connectBuiltIn(routeTo(h1, { port: 2200 }), options)).rejects.toMatchObject({
    code: 'SSH_KEX',
    message: `${h1.address} port 2200 and we have no algorithm in common: no key exchange algorithm`,
    hint: expect.stringContaining('ssh.client'),
  })
  await withRemote(connectWithSystemSsh(routeTo(h1, { port: 2200 }), options), async (remote) => {
    expect((await remote.exec(['hostname'], { signal })).stdout).toBe('h1\n')
  })
})

test('what only the ssh program can follow is reported, and followed by it', async () => {
  const include = join(local, 'ssh_config')
  const through = `ssh -F none -i ${h1.ssh.keyFile} -o UserKnownHostsFile=${h1.ssh.knownHosts} -W %h:%p root@${h1.address}`
  await writeFile(include, `Host ${h2.address}\n  ProxyCommand ${through}\n`)
  const config = parseSshConfig(await readFile(include, 'utf8'))
  const wanted = { name: 'h2', address: h2.address, ssh: { user: 'root', key: h2.ssh.keyFile } }
  const route = resolveSshRoute(wanted, {}, config, { user: 'nobody', home: local, directory: local })
  await expect(connectBuiltIn(route, options)).rejects.toMatchObject({
    code: 'SSH_CONFIG_SETTING',
    message: `~/.ssh/config sets ProxyCommand for ${h2.address}, which only the ssh program can follow`,
  })
  await withRemote(connectWithSystemSsh(route, { ...options, include, temporary: local }), async (remote) => {
    const { stdout } = await remote.exec(['sh', '-c', 'hostname; echo "$SSH_CLIENT"'], { signal })
    expect(stdout).toMatch(new RegExp(`^h2\n${h1.address} `))
  })
})

test('our own ssh says when a host starts no further program', async () => {
  await extraSshd(2205, 'MaxSessions=1')
  await withRemote(connectBuiltIn(routeTo(h1, { port: 2205 }), options), async (remote) => {
    const program = await remote.open(['cat'], { signal })
    program.stdout.resume()
    await expect(remote.exec(['true'], { signal })).rejects.toMatchObject({ code: 'SSH_SESSION_REFUSED' })
    program.stdin.end()
    await program.ended
  })
})

test('hosts behind one bastion share the connection to it', async () => {
  const bastions = openBastions()
  const bastion = { address: h1.address, user: 'root', key: h1.ssh.keyFile }
  try {
    const remotes = await settleAll(
      [1, 2, 3, 4, 5].map(async () => connectBuiltIn(routeTo(h2, { bastion }), { ...options, bastions })),
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
    // At most one connection of the test, in addition to one of the lab.
    expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(2)
    await settleAll(remotes.map(async (remote) => remote.close()))
  } finally {
    bastions.close()
  }
})

describe.each(clients)('connections that a host makes, by %s ssh', (name, connectTo) => {
  test('have their own error when its sshd forbids them', async () => {
    await extraSshd(2206, 'AllowTcpForwarding=no')
    await withRemote(connectTo(routeTo(h1, { port: 2206 })), async (remote) => {
      for (const port of [22, 2]) {
        await expect(remote.dial('127.0.0.1', port, { signal })).rejects.toMatchObject({
          code: 'SSH_FORWARD_FORBIDDEN',
          host: 'h1',
          message: `its sshd forbids connections to 127.0.0.1 port ${port} through it`,
          hint: expect.stringContaining('AllowTcpForwarding yes'),
        })
      }
      expect((await remote.exec(['true'], { signal })).code).toBe(0)
    })
  })

  test('go to other machines too, and say why they do not', async () => {
    await withRemote(connectTo(routeTo(h1)), async (remote) => {
      const stream = await remote.dial(h2.address, 22, { signal })
      const [greeting]: unknown[] = await once(stream, 'data')
      expect(String(greeting)).toMatch(/^SSH-2.0-/)
      stream.destroy()
      await expect(remote.dial('no-such-host.invalid', 22, { signal })).rejects.toMatchObject({
        code: 'SSH_DIAL_REFUSED',
        message: expect.stringMatching(/^no-such-host.invalid port 22 takes no connection: \S/),
      })
    })
  })

  test('carry the API', async () => {
    const ca = await createTestCa()
    const items = [{ text: 'x'.repeat(1 << 20) }]
    await using server = await startHttpsTestServer(ca, () => ({ json: { items } }))
    // The relay listens on the lab gateway, because hosts cannot reach the loopback address of this machine.
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

  test('are many, one after the other, and leave nothing behind', async () => {
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

describe.each(clients)('a user who is not root, by %s ssh', (_name, connectTo) => {
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

  test('is root by sudo, and sends files as root', async () => {
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
    '%s gets an error that says what sudo lacks',
    async (user) => {
      await withRemote(connectTo(routeTo(h1, { user })), async (remote) => {
        // sudo asks for a password unless NOPASSWD applies to all commands, and does not tell whether the
        // user has any sudo rights.
        await expect(remote.exec(['id'], { signal, root: true })).rejects.toMatchObject({
          code: 'SSH_SUDO_PASSWORD',
          host: 'h1',
          message: `sudo wants a password of ${user}, or gives ${user} no rights at all`,
          hint: `as root on the host: echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`,
        })
        expect((await remote.exec(['id', '-un'], { signal })).stdout).toBe(`${user}\n`)
      })
    },
  )

  test('a host without sudo has its own error, and may get it later', async () => {
    await h1.exec(['mv', '/usr/bin/sudo', '/usr/bin/sudo.away'])
    await withRemote(connectTo(routeTo(h1, { user: 'free' })), async (remote) => {
      const rootCommand = remote.exec(['id'], { signal, root: true })
      await rootCommand.catch(() => undefined)
      await h1.exec(['mv', '/usr/bin/sudo.away', '/usr/bin/sudo'])
      await expect(rootCommand).rejects.toMatchObject({
        code: 'SSH_NO_SUDO',
        message: 'free is not root, and there is no sudo',
      })
      expect((await remote.exec(['id', '-u'], { signal, root: true })).stdout).toContain('0\n')
    })
  })
})
