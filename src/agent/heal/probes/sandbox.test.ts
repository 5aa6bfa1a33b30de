import { expect, test } from 'vitest'
import type { Argv, CommandResult } from '../../../kit/command.ts'
import type { Seen } from '../probe-result.ts'
import { prober } from './prober.ts'
import { type TestEdges, testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

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

/** Bridge and portmap, as far as they show here. */
function host(broken?: (words: string) => Partial<CommandResult> | undefined): TestEdges {
  const edges = testEdges((argv) => {
    const words = wordsOf(argv)
    return broken?.(words) ?? (words.startsWith('ADD') ? { stdout: `{"from":"${words}"}` } : {})
  })
  edges.texts.set(configuration, conflist)
  return edges
}

function wordsOf(argv: Argv): string {
  if (argv[0] !== 'env') return argv[0]
  const verb = argv.find((word) => word.startsWith('CNI_COMMAND='))?.slice('CNI_COMMAND='.length)
  return `${verb} ${argv.at(-1)?.split('/').at(-1)}`
}

async function ask(edges: TestEdges, times = 1): Promise<Seen[]> {
  using one = prober(edges)
  const seen: Seen[] = []
  const { signal } = new AbortController()
  for (let time = 0; time < times; time++)
    seen.push(await one.ask(testProbe(check), testComponent('flanneld'), signal))
  return seen
}

const clean = ['DEL portmap', 'DEL bridge', 'umount']
const visit = ['touch', 'unshare', 'ADD bridge', 'ADD portmap', ...clean]

test('what an earlier one left is taken away, and then each joins and leaves', async () => {
  const edges = host()
  expect(await ask(edges, 2)).toEqual([{ state: 'well' }, { state: 'well' }])
  expect(edges.ran.map(({ argv }) => wordsOf(argv))).toEqual([...clean, ...visit, ...visit])
})

test('plugins are told what came of the one before them', async () => {
  const edges = host()
  await ask(edges)
  const [first, second] = edges.ran.filter(({ argv }) => argv.includes('CNI_COMMAND=ADD'))
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

test('a plugin that refuses is heard, and all is taken away', async () => {
  const stdout = JSON.stringify({ code: 999, msg: 'no IP addresses available in range set' })
  const edges = host((words) => (words === 'ADD bridge' ? { code: 1, stdout } : undefined))
  expect(await ask(edges)).toEqual([
    { state: 'failed', code: 'SANDBOX_NOT_JOINED', seen: 'bridge: no IP addresses available in range set' },
  ])
  expect(edges.ran.map(({ argv }) => wordsOf(argv))).toEqual([
    ...clean,
    'touch',
    'unshare',
    'ADD bridge',
    ...clean,
  ])
})

test('who does not get away again is not well, and is taken away by the next', async () => {
  let fails = true
  const edges = host((words) =>
    words === 'DEL bridge' && fails ? { code: 127, stderr: 'env: not found' } : undefined,
  )
  using one = prober(edges)
  const { signal } = new AbortController()
  const look = async (): Promise<Seen> => one.ask(testProbe(check), testComponent('flanneld'), signal)
  expect(await look()).toEqual({
    state: 'failed',
    code: 'SANDBOX_NOT_JOINED',
    seen: 'it did not get away again: bridge: env: not found',
  })
  expect(edges.ran.at(-1)?.argv).toEqual(['umount', '--', '/run/hyperkube/probe-network'])
  fails = false
  edges.ran.length = 0
  expect(await look()).toEqual({ state: 'well' })
  expect(edges.ran.map(({ argv }) => wordsOf(argv))).toEqual([...clean, ...visit])
})

test('a configuration that is gone, or none', async () => {
  const edges = host()
  edges.texts.set(configuration, '{"name":')
  expect(await ask(edges)).toMatchObject([
    { code: 'SANDBOX_NOT_JOINED', seen: `${configuration} cannot be read` },
  ])
  edges.texts.delete(configuration)
  expect(await ask(edges)).toMatchObject([
    { code: 'SANDBOX_NOT_JOINED', seen: `there is no ${configuration}` },
  ])
})
