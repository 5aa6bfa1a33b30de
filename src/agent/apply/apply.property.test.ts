import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Arbitrary, array, assert, asyncProperty, constantFrom, nat, record, subarray } from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  type ComponentPlan,
  type PlannedArtifact,
  type Stage,
  stages,
} from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import type { HostFiles } from '../host/files.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { listFilesBelow } from '../resources/artifact-files.ts'
import { diffHost } from './diff-host.ts'
import { readLedger } from '../records/ledger.ts'
import { type CrashPoint, Killed, withCrash } from './testing/crash-injection.ts'
import { applyAndListOps, buildPlanWithHost, buildProgram, publishPrograms } from './testing/fixtures.ts'

const work = mkdtempSync(join(tmpdir(), 'archive-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** A real archive with two programs in a directory. */
function archive(version: string): Uint8Array {
  const directory = join(work, `tools-${version}`)
  mkdirSync(directory)
  for (const name of ['one', 'two'])
    writeFileSync(join(directory, name), `${name} ${version}`, { mode: 0o755 })
  execFileSync('tar', ['-C', work, '-czf', join(work, `${version}.tgz`), `tools-${version}`])
  return readFileSync(join(work, `${version}.tgz`))
}

const archives = new Map(['1', '2'].map((version) => [version, archive(version)]))

function archiveOf(version: string): PlannedArtifact {
  return {
    from: 'url',
    name: 'tools',
    version,
    url: `https://example.org/tools-${version}.tgz`,
    sha256: createHash('sha256')
      .update(archives.get(version) ?? '')
      .digest('hex'),
    directory: `/opt/hyperkube/tools-${version}`,
    unpack: { kind: 'archive', strip: 1 },
  }
}

const few = constantFrom('1', '2')
const perhaps = (): Arbitrary<string[]> => array(few, { maxLength: 1 })

/** Generates a component whose paths and versions come from a small pool, so that plans overlap often. */
function componentNamed(name: string, stage: Stage, needs: string[] = []): Arbitrary<ComponentPlan> {
  const own = `/etc/hyperkube/${name}`
  return record({
    users: subarray(['shared', name]),
    modules: subarray(['overlay', 'vxlan']),
    sysctl: perhaps(),
    directories: subarray(['/srv/shared', `/srv/${name}/deep`]),
    mode: constantFrom('0700', '0755'),
    versions: perhaps(),
    shared: perhaps(),
    tools: perhaps(),
    config: perhaps(),
    quiet: perhaps(),
    secret: perhaps(),
    plain: perhaps(),
    inCommon: perhaps(),
    derived: perhaps(),
    unit: perhaps(),
  }).map((spec) => {
    const file = (path: string, text: string, restart: boolean): ComponentPlan['files'][number] => ({
      path,
      owner: 'root',
      mode: '0600',
      content: { kind: 'text', text },
      restart,
    })
    return buildComponent({
      name,
      stage,
      needs,
      users: spec.users,
      modules: spec.modules,
      sysctls: Object.fromEntries(spec.sysctl.map((value) => ['vm.swappiness', value])),
      directories: [
        { path: own, owner: spec.users[0] ?? 'root', mode: '0700' },
        ...spec.directories.map((path) => ({ path, owner: 'root', mode: spec.mode })),
      ],
      artifacts: [
        ...spec.versions.map((version) => buildProgram(name, version)),
        ...spec.shared.map((version) => buildProgram('shared', version)),
        ...spec.tools.map(archiveOf),
      ],
      files: [
        ...spec.config.map((text) => file(`${own}/config`, text, true)),
        ...spec.quiet.map((text) => file(`${own}/deeper/quiet`, text, false)),
        ...spec.plain.map((text) => file(`/etc/plain/${name}`, text, true)),
        ...spec.inCommon.map((text) => file('/etc/foreign', text, false)),
        ...spec.secret.map((tag) => ({
          ...file(`${own}/secret`, '', true),
          content: { kind: 'secret' as const, secret: tag, tag },
        })),
      ],
      derivedFiles: spec.derived.map((template) => ({
        path: '/etc/foreign',
        owner: 'root',
        mode: '0644',
        from: '/run/env',
        template: `${template} \${A}`,
      })),
      service: spec.unit.map((unit) => ({
        supervisor: 'systemd' as const,
        name: `${name}.service`,
        unit: `[Service]\n# ${unit}\n`,
      }))[0],
    })
  })
}

const plans: Arbitrary<NodePlan> = record({
  etcd: componentNamed('etcd', 'etcd'),
  // A run stops a service that needs etcd before it restarts etcd. The run may also be killed between the
  // stop and the restart.
  kubelet: componentNamed('kubelet', 'node', ['etcd']),
  proxy: componentNamed('proxy', 'network'),
  chosen: subarray([0, 1, 2]),
}).map(({ etcd, kubelet, proxy, chosen }) =>
  buildPlanWithHost(...[etcd, kubelet, proxy].filter((_, index) => chosen.includes(index))),
)

const secrets = { '1': 'first', '2': 'second' }

async function freshHost(): Promise<TemporaryHost & AsyncDisposable> {
  let all: () => Promise<Record<string, string>> = async () => ({})
  const host = await createTemporaryHost(async () => JSON.stringify(await all()))
  all = async () => contents(host)
  await writeFile(host.toLocalPath('/etc/foreign'), 'foreign')
  await writeFile(host.toLocalPath('/run/env'), 'A=1\n')
  for (const [version, bytes] of archives)
    host.remoteFiles.set(
      archiveOf(version).from === 'url' ? `https://example.org/tools-${version}.tgz` : '',
      bytes,
    )
  return host
}

/** Returns the content of all files except those of the agent itself. */
async function contents({ files }: TemporaryHost): Promise<Record<string, string>> {
  const paths = (await listFilesBelow(files, '/')).filter(
    (path) => !path.startsWith('var/lib/hyperkube/agent/'),
  )
  const texts = await Promise.all(
    paths.map(async (path) => {
      const facts = await files.stat(`/${path}`)
      const text = (await files.read(`/${path}`))?.toString('base64') ?? 'gone'
      return [
        path,
        `${facts?.mode.toString(8)} ${facts?.uid === process.getuid?.() ? 'ours' : 'other'} ${text}`,
      ] as const
    }),
  )
  return Object.fromEntries(texts)
}

async function directoriesBelow(files: HostFiles, directory = ''): Promise<string[]> {
  const entries = (await files.list(directory || '/')) ?? []
  const found = await Promise.all(
    entries
      .filter(({ kind }) => kind === 'directory')
      .map(async ({ name }) => {
        const path = `${directory}/${name}`
        const facts = await files.stat(path)
        return [`${path} ${facts?.mode.toString(8)}`, ...(await directoriesBelow(files, path))]
      }),
  )
  return found.flat().toSorted()
}

/**
 * Returns everything observable on a host, including its ledger. Kernel modules are left out, because they
 * stay loaded until the next boot.
 */
async function observeHost(host: TemporaryHost): Promise<unknown> {
  const units = [...host.services.units].map(async ([name, { text, state }]) => {
    const { enabled } = await host.services.show(name)
    return { name, text, state, enabled }
  })
  const ledger = await readLedger(host)
  return {
    files: await contents(host),
    directories: await directoriesBelow(host.files),
    users: [...host.users.names].toSorted(),
    settings: Object.fromEntries(host.kernel.settings),
    units: (await Promise.all(units)).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    retainedDirectories: ledger?.retainedDirectories,
    resources: (ledger?.resources ?? [])
      .map((resource) =>
        resource.target === 'artifact'
          ? { ...resource, files: resource.files.map(({ path, sha256 }) => ({ path, sha256 })) }
          : resource,
      )
      .toSorted((a, b) => (`${a.target} ${a.name}` < `${b.target} ${b.name}` ? -1 : 1)),
  }
}

interface Attempt {
  readonly ends: number
  readonly through: Stage
}

/** Applies a plan several times. The process of each attempt is killed at its crash point. */
async function attempt(host: TemporaryHost, plan: NodePlan, attempts: readonly Attempt[]): Promise<void> {
  for (const { ends, through } of attempts) {
    const crash: CrashPoint = { calls: 0, ends }
    await applyAndListOps(withCrash(host, crash), plan, { through, secrets }).catch((error: unknown) => {
      if (2 * crash.calls < ends) throw error
    })
  }
}

const attempts = array(record({ ends: nat(1200), through: constantFrom(...stages) }), { maxLength: 3 })
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 4)

test('after any interrupted runs, the last run produces the same host as it would alone', async () => {
  await assert(
    asyncProperty(
      array(record({ plan: plans, attempts }), { minLength: 1, maxLength: 3 }),
      plans,
      async (history, last) => {
        await using host = await freshHost()
        await using other = await freshHost()
        for (const plan of [...history.map(({ plan: one }) => one), last]) {
          publishPrograms(host, plan)
          publishPrograms(other, plan)
        }
        for (const { plan, attempts: some } of history) await attempt(host, plan, some)
        await applyAndListOps(host, last, { secrets })
        await applyAndListOps(other, last, { secrets })
        expect(await observeHost(host)).toEqual(await observeHost(other))
        expect(await diffHost(host, last)).toEqual({ ops: [], findings: [] })
        await expectAllRead(host, last)
      },
    ),
    // A failing sequence is not shrunk, because this would take minutes. The printed seed reproduces the
    // failure.
    { numRuns, endOnFailure: true },
  )
})

/** Expects that running services have read the current content of their files. */
async function expectAllRead(host: TemporaryHost, plan: NodePlan): Promise<void> {
  const now = await contents(host)
  for (const { service, files } of plan.components) {
    const loaded = host.services.units.get(service?.name ?? '')?.observed ?? ''
    const read: Record<string, string> =
      service === undefined ? {} : JSON.parse(loaded.slice(loaded.indexOf('{')))
    for (const { path, restart } of service === undefined ? [] : files.filter((file) => file.restart)) {
      expect(restart && read[path.slice(1)], path).toBe(now[path.slice(1)])
    }
  }
}

test('an agent that is killed at its first call writes no ledger', async () => {
  await using host = await freshHost()
  await expect(
    applyAndListOps(withCrash(host, { calls: 0, ends: 0 }), buildPlanWithHost()),
  ).rejects.toBeInstanceOf(Killed)
  expect(await readLedger(host)).toBeUndefined()
})
