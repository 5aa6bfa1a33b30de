import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Argv, runProgram } from '../../src/kit/command.ts'

let directory: string
let hyperkube: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  hyperkube = inject('executable')
})
afterAll(async () => rm(directory, { recursive: true, force: true }))

test('the executable runs without other files', async () => {
  const { stdout } = await runProgram([hyperkube, 'version'], { env: {} })
  expect(stdout).toMatch(/^hyperkube \d+\.\d+\.\d+\n$/)
})

test('--help takes less than 150 ms, or on a slow machine five times the start of Node', async () => {
  const [program, node] = [
    await measureStart([hyperkube, '--help']),
    await measureStart([process.execPath, '-e', '0']),
  ]
  process.stderr.write(`--help: best ${program.toFixed(0)} ms, Node ${node.toFixed(0)} ms\n`)
  expect(program).toBeLessThan(Math.max(150, 5 * node))
})

/** Returns the best time of seven starts, because load on the machine only makes starts slower. */
async function measureStart(argv: Argv): Promise<number> {
  const times: number[] = []
  for (let attempt = 0; attempt < 7; attempt++) {
    const started = performance.now()
    await runProgram(argv)
    times.push(performance.now() - started)
  }
  return Math.min(...times)
}

test('NODE_OPTIONS is ignored', async () => {
  const script = join(directory, 'intruder.cjs')
  await writeFile(script, 'process.stdout.write("intruded")')
  const { stdout } = await runProgram([hyperkube, 'version'], {
    env: { NODE_OPTIONS: `--require=${script}` },
  })
  expect(stdout).not.toContain('intruded')
})

test('a link named like a command runs that command', async () => {
  await symlink(hyperkube, join(directory, 'validate'))
  const { code, stderr } = await runProgram([join(directory, 'validate')], {
    cwd: directory,
    allowFailure: true,
  })
  expect(code).toBe(1)
  expect(stderr).toContain('SPEC_NOT_READ: cluster.yml does not exist')
})

test('init writes a valid cluster.yml, and validate reports the position of an error', async () => {
  const file = join(directory, 'cluster.yml')
  const env = { XDG_CONFIG_HOME: join(directory, 'config') }
  await runProgram([hyperkube, 'init', '-f', file, '--host', 'root@10.0.0.1=control-plane'], { env })
  expect((await runProgram([hyperkube, 'validate', '-f', file])).stdout).toContain('cluster is valid')
  await writeFile(file, 'kind: Cluster\napiVersion: hyperkube.dev/v1\nspek: {}\n')
  const wrong = await runProgram([hyperkube, 'validate', '-f', file], { allowFailure: true })
  expect(wrong.code).toBe(1)
  expect(wrong.stdout).toContain(`${file}:3:1: error SPEC_UNKNOWN_KEY: spek unknown setting "spek"`)
})

/** For each shell: a script that queries the completion of hyperkube, and its expected output. */
const shells = [
  [
    'bash',
    'COMP_WORDS=(hyperkube etcd snapshot re) COMP_CWORD=3; _hyperkube; echo "${COMPREPLY[*]}"',
    'restore',
  ],
  [
    'zsh',
    '_describe() { print -rl -- "${(@P)2}"; }; words=(hyperkube etcd snapshot re) CURRENT=4; _hyperkube',
    'restore:Restore the cluster from a snapshot',
  ],
  ['fish', 'complete -C "hyperkube etcd snapshot re"', 'restore\tRestore the cluster from a snapshot'],
] as const

test.each(shells)('completion works in %s', async (shell, query, expected) => {
  const { stdout: script } = await runProgram([hyperkube, 'completion', shell])
  const before = shell === 'zsh' ? 'autoload -Uz compinit && compinit -u -D\n' : ''
  const bin = join(directory, shell)
  await mkdir(bin)
  await symlink(hyperkube, join(bin, 'hyperkube'))
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: bin }
  const { stdout } = await runProgram([shell, '-c', `${before}${script}\n${query}`], { env })
  expect(stdout).toContain(expected)
})
