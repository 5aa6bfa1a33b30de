import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { writeCorporateEvidence } from '../support/corporate-evidence.ts'
import { openFreshLab } from '../support/lab.ts'
import { createOperator, type Operator } from '../support/operator.ts'
import { type Squid, squidUser, startSquid } from '../support/squid.ts'

/**
 * The hosts and the operator reach the internet only through squid, which demands a login. The "internet" is
 * one server with a certificate of a private CA, whose registry demands another login.
 */
const outside = '198.51.100.7'
const passwords = { proxy: 'pr@xy: p%ss/w"rd', registry: "reg'istry \\ p@ss" }
const table = 'hk-corporate'

let work: string
let lab: Lab
let hosts: readonly Host[]
let squid: Squid
let operator: Operator

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'corporate-'))
  // squid runs as another user and must reach its files.
  await runProgram(['chmod', '0755', work])
  await runProgram(['ip', 'address', 'replace', `${outside}/32`, 'dev', 'lo'])
  const tls = await createCertificate()
  lab = await openFreshLab('corporate')
  hosts = await lab.up(['cp1', 'w1'])
  squid = await startSquid({
    address: lab.gateway,
    port: 3128,
    username: 'cluster',
    password: passwords.proxy,
    directory: join(work, 'squid'),
  })
  operator = await createOperator(lab, hosts, '1.37.1', {
    addons: true,
    mirror: { address: outside, tls, login: { username: 'puller', password: passwords.registry } },
    beforeLock: async ({ directory, must, edit }) => {
      await writeFile(join(directory, 'corp-ca.pem'), await readFile(join(work, 'ca.crt'), 'utf8'))
      await edit((document) => {
        const mirror = String(document.getIn(['spec', 'artifacts', 'mirror']))
        document.setIn(['spec', 'artifacts', 'ca'], 'corp-ca.pem')
        document.addIn(['spec', 'registries'], {
          host: new URL(mirror).host,
          username: 'puller',
          password: { secret: 'puller' },
          ca: 'corp-ca.pem',
        })
        document.setIn(['spec', 'proxy'], {
          http: squid.url,
          https: squid.url,
          username: 'cluster',
          password: { secret: 'proxy' },
        })
      })
      await setSecret({ directory, must }, 'puller', passwords.registry)
      await setSecret({ directory, must }, 'proxy', passwords.proxy)
      await blockOperator(Number(new URL(await readMirror(directory)).port))
      await settleAll(hosts.map(blockHost))
    },
  })
}, 600_000)
afterAll(async () => {
  await runProgram(['nft', 'delete', 'table', 'inet', table], { allowFailure: true })
  await squid?.[Symbol.asyncDispose]()
  try {
    await operator?.close()
  } finally {
    await lab.down()
    await runProgram(['ip', 'address', 'delete', `${outside}/32`, 'dev', 'lo'], { allowFailure: true })
    await rm(work, { recursive: true, force: true })
  }
}, 120_000)

/** Creates a private CA and a certificate for the address of the server. */
async function createCertificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const config = join(work, 'openssl.cnf')
  await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n')
  const issue = async (name: string, ...more: readonly string[]): Promise<void> => {
    const files = ['-keyout', join(work, `${name}.key`), '-out', join(work, `${name}.crt`)]
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const argv = ['-config', config, '-subj', `/CN=${name}`, ...key, ...files, ...more]
    await runProgram(['openssl', 'req', '-x509', ...argv])
  }
  await issue('ca', '-addext', 'basicConstraints=critical,CA:TRUE')
  const ca = ['-CA', join(work, 'ca.crt'), '-CAkey', join(work, 'ca.key')]
  await issue('server', ...ca, '-addext', `subjectAltName=IP:${outside}`)
  return {
    cert: await readFile(join(work, 'server.crt'), 'utf8'),
    key: await readFile(join(work, 'server.key'), 'utf8'),
  }
}

async function setSecret(
  { directory, must }: Pick<Operator, 'directory' | 'must'>,
  name: string,
  value: string,
): Promise<void> {
  const file = join(directory, 'value')
  await writeFile(file, value)
  await must(0, 'secret', 'set', name, '--from-file', file)
  await rm(file)
}

async function readMirror(directory: string): Promise<string> {
  const text = await readFile(join(directory, 'cluster.yml'), 'utf8')
  return /mirror: (\S+)/.exec(text)?.[1] ?? ''
}

/** Counts and rejects new connections to the server that squid did not open. */
async function blockOperator(port: number): Promise<void> {
  await runProgram(['nft', '-f', '-'], {
    input: `table inet ${table} {
      counter bypassed {}
      chain output {
        type filter hook output priority -10;
        ip daddr ${outside} tcp dport ${port} meta skuid != ${squidUser} counter name bypassed reject
      }
    }`,
  })
}

/**
 * Counts and drops packets of the host that open connections neither to squid nor to hosts and pods of the
 * cluster. Those of pods have a counter of their own, because pods do not get the proxy.
 */
async function blockHost(host: Host): Promise<void> {
  const network = `${lab.gateway.replace(/\.\d+$/, '')}.0/24`
  const inside = `${network}, 10.244.0.0/16, 10.96.0.0/16, 127.0.0.0/8`
  await host.exec(['nft', '-f', '-'], {
    input: `table inet ${table} {
      counter proxied {}
      counter bypassed {}
      counter other {}
      counter pods {}
      set targets {
        type ipv4_addr . inet_proto . inet_service; flags dynamic; size 1000;
      }
      set targets6 {
        type ipv6_addr . inet_proto . inet_service; flags dynamic; size 1000;
      }
      set others {
        type ipv4_addr . inet_proto; flags dynamic; size 1000;
      }
      chain drop-new {
        meta l4proto { tcp, udp } update @targets { ip daddr . meta l4proto . th dport }
        meta l4proto { tcp, udp } update @targets6 { ip6 daddr . meta l4proto . th dport }
        meta l4proto { tcp, udp } counter name bypassed drop
        update @others { ip daddr . meta l4proto }
        counter name other drop
      }
      chain output {
        type filter hook output priority -10;
        ct state established,related accept
        ct state invalid drop
        ip daddr ${lab.gateway} tcp dport 3128 counter name proxied accept
        ip daddr ${lab.gateway} goto drop-new
        ip daddr { ${inside} } accept
        ip6 daddr { ::1, fe80::/10, ff00::/8 } accept
        goto drop-new
      }
      chain forward {
        type filter hook forward priority -10;
        ct state established,related accept
        ip daddr != ${lab.gateway} ip daddr { ${inside} } accept
        counter name pods drop
      }
    }`,
  })
}

async function readCounter(run: (argv: readonly [string, ...string[]]) => Promise<string>, name: string) {
  const text = await run(['nft', 'list', 'counter', 'inet', table, name])
  return Number(/packets (\d+)/.exec(text)?.[1])
}

const onHost = (host: Host) => async (argv: readonly [string, ...string[]]) => (await host.exec(argv)).stdout
const onMachine = async (argv: readonly [string, ...string[]]) => (await runProgram(argv)).stdout

/** Lists the targets of dropped packets. */
async function readTargets(host: Host): Promise<string> {
  const sets = ['targets', 'targets6', 'others'].map(async (name) => {
    const text = await onHost(host)(['nft', 'list', 'set', 'inet', table, name])
    return (/elements = \{([^}]*)\}/.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' ').trim()
  })
  return (await Promise.all(sets)).filter((text) => text !== '').join('; ')
}

test('without the proxy, neither hosts nor the operator reach the server', async () => {
  const mirror = await readMirror(operator.directory)
  for (const host of hosts) {
    const direct = await host.exec(['curl', '-sk', '--max-time', '2', mirror], { allowFailure: true })
    expect(direct.code, host.name).not.toBe(0)
    expect(await readCounter(onHost(host), 'bypassed'), host.name).toBeGreaterThan(0)
    await host.exec(['nft', 'reset', 'counters', 'table', 'inet', table])
    for (const set of ['targets', 'targets6', 'others'])
      await host.exec(['nft', 'flush', 'set', 'inet', table, set])
  }
  const direct = await runProgram(['curl', '-sk', '--max-time', '2', mirror], { allowFailure: true })
  expect(direct.code).not.toBe(0)
  expect(await readCounter(onMachine, 'bypassed')).toBeGreaterThan(0)
  await runProgram(['nft', 'reset', 'counters', 'table', 'inet', table])
})

test('the operator resolved the lock through the proxy', async () => {
  const requests = await squid.requests()
  expect(requests.filter(({ status }) => status === 200).length).toBeGreaterThan(5)
  expect(await readFile(join(operator.directory, 'cluster.lock'), 'utf8')).toContain('sha256:')
})

test('a wrong password of the proxy stops up before a change, with its code and host', async () => {
  await setSecret(operator, 'proxy', 'wrong')
  const up = await operator.hyperkube('up', '--yes')
  expect(up.code).toBe(1)
  expect(up.stderr + up.stdout).toContain('PROXY_LOGIN_REFUSED')
  expect(up.stderr + up.stdout).toMatch(/cp1|w1/)
  await setSecret(operator, 'proxy', passwords.proxy)
})

test('a wrong password of the registry stops up, with its code and host', async () => {
  await setSecret(operator, 'puller', 'wrong')
  const up = await operator.hyperkube('up', '--yes')
  expect(up.code, up.stderr).toBe(1)
  expect(up.stderr + up.stdout).toContain('REGISTRY_LOGIN_REFUSED')
  await setSecret(operator, 'puller', passwords.registry)
})

test('up creates the cluster and its addons, and no packet bypasses the proxy', async () => {
  const started = performance.now()
  const up = await operator.hyperkube('up', '--yes')
  expect(up.code, up.stderr).toBe(0)
  const seconds = (performance.now() - started) / 1000
  const again = await operator.hyperkube('plan')
  expect(again.code, again.stdout).toBe(0)
  const counted = await Promise.all(
    hosts.map(async (host) => ({
      host: host.name,
      proxied: await readCounter(onHost(host), 'proxied'),
      bypassed: await readCounter(onHost(host), 'bypassed'),
      pods: await readCounter(onHost(host), 'pods'),
      other: await readCounter(onHost(host), 'other'),
      targets: await readTargets(host),
    })),
  )
  const operatorBypassed = await readCounter(onMachine, 'bypassed')
  const requests = await squid.requests()
  await writeCorporateEvidence({ seconds, counted, operatorBypassed, requests, lab: lab.gateway })
  for (const { host, proxied, bypassed, targets } of counted) {
    expect(proxied, host).toBeGreaterThan(0)
    expect(bypassed, `${host} ${targets}`).toBe(0)
  }
  expect(operatorBypassed).toBe(0)
  const server = new URL(await readMirror(operator.directory)).host
  expect(new Set(requests.filter(({ status }) => status === 200).map(({ target }) => target))).toEqual(
    new Set([server]),
  )
})

test('passwords are only in files that root alone can read', async () => {
  for (const host of hosts) {
    for (const password of ['pr%40xy', 'pr@xy', "reg'istry"]) {
      const search = `grep -rlF -- "${password}" /etc /run/systemd /var/lib/hyperkube /var/log 2>/dev/null || true`
      const files = (await host.script(search)).stdout.trim().split('\n').filter(Boolean)
      for (const file of files) {
        expect(file).toMatch(/^\/etc\/hyperkube\/(agent|containerd)\//)
        expect((await host.exec(['stat', '-c', '%a %U', file])).stdout.trim()).toBe('600 root')
      }
      const shown = await host.script(
        'systemctl show containerd hyperkube-agent; journalctl --no-pager; ps -ef',
      )
      expect(shown.stdout.includes(password), `${host.name} ${password}`).toBe(false)
    }
    const users = await host.script('grep -c proxy.env /etc/systemd/system/containerd.service')
    expect(users.stdout.trim()).toBe('1')
  }
})
