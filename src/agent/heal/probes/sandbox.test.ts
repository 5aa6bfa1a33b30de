import { expect, test } from 'vitest'
import type { Argv, CommandResult } from '../../../kit/command.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber } from './prober.ts'
import {
  createFakeProbeDeps,
  type FakeProbeDeps,
  testComponent,
  testProbe,
} from './testing/fake-probe-deps.ts'

const configuration = '/etc/cni/net.d/10-flannel.conflist'
const check = { kind: 'sandbox', configuration, plugins: '/plugins' } as const
const conflist = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'flannel',
  plugins: [
    { type: 'bridge', bridge: 'cni0' },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

/** Creates a host with fakes of the bridge and portmap plugins. `broken` replaces their results. */
function host(broken?: (summary: string) => Partial<CommandResult> | undefined): FakeProbeDeps {
  const deps = createFakeProbeDeps((argv) => {
    const summary = summarizeArgv(argv)
    return broken?.(summary) ?? (summary.startsWith('ADD') ? { stdout: `{"from":"${summary}"}` } : {})
  })
  deps.texts.set(configuration, conflist)
  return deps
}

function summarizeArgv(argv: Argv): string {
  if (argv[0] !== 'env') return argv[0]
  const verb = argv.find((word) => word.startsWith('CNI_COMMAND='))?.slice('CNI_COMMAND='.length)
  return `${verb} ${argv.at(-1)?.split('/').at(-1)}`
}

async function runProbe(deps: FakeProbeDeps, times = 1): Promise<ProbeResult[]> {
  using probes = createProber(deps)
  const results: ProbeResult[] = []
  const { signal } = new AbortController()
  for (let time = 0; time < times; time++)
    results.push(await probes.run(testProbe(check), testComponent('flanneld'), signal))
  return results
}

const clean = ['DEL portmap', 'DEL bridge', 'umount']
const visit = ['touch', 'unshare', 'ADD bridge', 'ADD portmap', ...clean]

test('the first probe removes an old test pod, and each probe adds and removes its own', async () => {
  const deps = host()
  expect(await runProbe(deps, 2)).toEqual([{ state: 'healthy' }, { state: 'healthy' }])
  expect(deps.ran.map(({ argv }) => summarizeArgv(argv))).toEqual([...clean, ...visit, ...visit])
})

test('each plugin gets the result of the previous one', async () => {
  const deps = host()
  await runProbe(deps)
  const [first, second] = deps.ran.filter(({ argv }) => argv.includes('CNI_COMMAND=ADD'))
  expect(JSON.parse(first?.input ?? '')).toEqual({
    type: 'bridge',
    bridge: 'cni0',
    cniVersion: '1.0.0',
    name: 'flannel',
  })
  expect(JSON.parse(second?.input ?? '')).toMatchObject({ prevResult: { from: 'ADD bridge' } })
  expect(first?.argv).toContain('CNI_NETNS=/run/hyperkube/probe-network')
  expect(first?.argv).toContain('/plugins/bridge')
})

test('the error of a plugin is reported, and the test pod is removed', async () => {
  const stdout = JSON.stringify({ code: 999, msg: 'no IP addresses available in range set' })
  const deps = host((summary) => (summary === 'ADD bridge' ? { code: 1, stdout } : undefined))
  expect(await runProbe(deps)).toEqual([
    {
      state: 'unhealthy',
      code: 'SANDBOX_NOT_JOINED',
      message: 'bridge: no IP addresses available in range set',
    },
  ])
  expect(deps.ran.map(({ argv }) => summarizeArgv(argv))).toEqual([
    ...clean,
    'touch',
    'unshare',
    'ADD bridge',
    ...clean,
  ])
})

test('a test pod that cannot be removed is reported, and removed by the next probe', async () => {
  let fails = true
  const deps = host((summary) =>
    summary === 'DEL bridge' && fails ? { code: 127, stderr: 'env: not found' } : undefined,
  )
  using probes = createProber(deps)
  const { signal } = new AbortController()
  const runOnce = async (): Promise<ProbeResult> =>
    probes.run(testProbe(check), testComponent('flanneld'), signal)
  expect(await runOnce()).toEqual({
    state: 'unhealthy',
    code: 'SANDBOX_NOT_JOINED',
    message: 'the test pod was not removed: bridge: env: not found',
  })
  expect(deps.ran.at(-1)?.argv).toEqual(['umount', '--', '/run/hyperkube/probe-network'])
  fails = false
  deps.ran.length = 0
  expect(await runOnce()).toEqual({ state: 'healthy' })
  expect(deps.ran.map(({ argv }) => summarizeArgv(argv))).toEqual([...clean, ...visit])
})

test('an invalid or missing configuration is reported', async () => {
  const deps = host()
  deps.texts.set(configuration, '{"name":')
  expect(await runProbe(deps)).toMatchObject([
    { code: 'SANDBOX_NOT_JOINED', message: `${configuration} cannot be read` },
  ])
  deps.texts.delete(configuration)
  expect(await runProbe(deps)).toMatchObject([
    { code: 'SANDBOX_NOT_JOINED', message: `there is no ${configuration}` },
  ])
})
