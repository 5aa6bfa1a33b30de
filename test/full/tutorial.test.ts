import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { buildClusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import {
  parseTutorial,
  replaceOutputs,
  shortenOutput,
  type TutorialCommands,
  type TutorialFile,
} from '../../scripts/tutorial.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { FaultLab, labFindings } from '../support/fault-lab.ts'

/**
 * Runs the commands of docs/tutorial/first-cluster.md, in their order, on two fresh hosts with the shipped
 * executable. If all of them succeed, their outputs replace the previous ones in the page.
 */
const page = join(import.meta.dirname, '../../docs/tutorial/first-cluster.md')
const markdown = await readFile(page, 'utf8')
const steps = parseTutorial(markdown)

/** Hosts of the lab, and the addresses that the page has for them. */
const pageAddresses: Readonly<Record<string, string>> = { cp1: '192.168.1.11', w1: '192.168.1.21' }

/** First step that needs the files and images of the mirror. Settings of the lab are added before it. */
const firstMirrorStep = 'lock'

/** Steps that observe the cluster. They are repeated while components settle on a busy machine. */
const repeatedSteps: ReadonlySet<string> = new Set(['status', 'doctor', 'addons'])
const [settleMs, commandMs] = [300_000, 1_200_000]

/** Text that the output of a step must contain. */
const expectations: Readonly<Record<string, RegExp>> = {
  version: /^hyperkube \d/,
  validate: /is valid/,
  lock: /wrote cluster\.lock/,
  plan: /in this order/,
  up: /first is up on cp1 and w1/,
  'up-again': /nothing to do/,
  nodes: /^cp1\s+Ready[\s\S]*^w1\s+Ready/m,
  // The output must not contain 0/1, which means that a pod is not ready yet.
  addons: /^(?![\s\S]*\b0\/1\b)[\s\S]*coredns[\s\S]*traefik/,
  apply: /successfully rolled out/,
  request: /Hello from a volume/,
  scale: /successfully rolled out[\s\S]*Bound/,
  restart: /Hello from a volume/,
  status: /cp1[\s\S]*w1/,
}

/** Exit code of `plan` if there are changes. */
const changesPending = 3

describe('docs/tutorial/first-cluster.md', () => {
  const outputs = new Map<string, string>()
  let failedStep: string | undefined
  let lab: FaultLab
  let directory: string
  let env: Readonly<Record<string, string>>

  beforeAll(async () => {
    lab = await FaultLab.open('tutorial', Object.keys(pageAddresses))
    directory = join(lab.directory, 'first')
    await mkdir(directory)
    env = {
      PATH: `${await installProgram()}:${process.env['PATH']}`,
      HOME: lab.directory,
      LC_ALL: 'C.UTF-8',
    }
  }, 900_000)
  afterAll(async () => lab[Symbol.asyncDispose](), 300_000)

  beforeEach(({ skip }) => skip(failedStep !== undefined, `the step ${failedStep} failed`))
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') failedStep ??= task.name
  })

  /**
   * Installs a `hyperkube` that ignores findings about the machine that runs the lab, so that neither its
   * commands nor its outputs on the page mention them.
   */
  async function installProgram(): Promise<string> {
    const bin = join(lab.directory, 'bin')
    await mkdir(bin)
    const ignore = `--ignore ${labFindings.join(',')}`
    const file = join(bin, 'hyperkube')
    await writeFile(
      file,
      `#!/bin/sh
case "$1" in
  plan | up) exec "${lab.program}" "$@" ${ignore} ;;
  *) exec "${lab.program}" "$@" ;;
esac
`,
    )
    await chmod(file, 0o755)
    return bin
  }

  /** Adds the settings of the lab to the cluster.yml of `init`: its mirror, its ssh key, its small disks. */
  async function addLabSettings(): Promise<void> {
    const file = join(directory, 'cluster.yml')
    const document = parseDocument(await readFile(file, 'utf8'))
    const version = String(document.getIn(['spec', 'kubernetes']))
    const labDocument = parseDocument(
      stringify(buildClusterDocument(version, lab.mirror.address, lab.hosts, { addons: true })),
    )
    for (const key of ['artifacts', 'registries', 'components', 'ssh'])
      document.setIn(['spec', key], labDocument.getIn(['spec', key], true))
    await writeFile(file, String(document))
  }

  async function runCommands(commands: string): Promise<CommandResult> {
    const script = `exec 2>&1\nset -e\n${replaceAddresses(commands, 'lab')}`
    const options = { cwd: directory, env, allowFailure: true, signal: AbortSignal.timeout(commandMs) }
    return runProgram(['bash', '-c', script], options)
  }

  /** Replaces the addresses of the page by those of the lab, or the other way round. */
  function replaceAddresses(text: string, target: 'lab' | 'page'): string {
    return Object.entries(pageAddresses).reduce((result, [name, pageAddress]) => {
      const { address } = lab.getHost(name)
      const [from, to] = target === 'lab' ? [pageAddress, address] : [address, pageAddress]
      return result.replaceAll(new RegExp(`(?<![\\d.])${from.replaceAll('.', '\\.')}(?!\\d)`, 'g'), to)
    }, text)
  }

  /** Removes traces of the lab: its mirror, its addresses and its home directory. */
  function normalizeOutput(text: string): string {
    const lines = text
      .split('\n')
      .filter((line) => !line.includes('warning: the mirror is not encrypted'))
      .map((line) => line.trimEnd())
    const plain = lines.join('\n').replaceAll(`${lab.mirror.address}/`, 'https://')
    return replaceAddresses(plain, 'page').replaceAll(lab.directory, '~')
  }

  /** Runs the commands of a step. Returns an explanation if they failed. */
  async function runStep({ name, commands }: TutorialCommands): Promise<string | undefined> {
    if (name === firstMirrorStep) await addLabSettings()
    const isExpected = ({ code, stdout }: CommandResult): boolean =>
      code === (name === 'plan' ? changesPending : 0) && (expectations[name] ?? /^/).test(stdout)
    let result = await runCommands(commands)
    if (!isExpected(result) && repeatedSteps.has(name)) {
      await pollUntil(
        `${name} to be as expected`,
        async () => {
          result = await runCommands(commands)
          return isExpected(result)
        },
        { timeoutMs: settleMs, intervalMs: 5000 },
      ).catch(() => undefined)
    }
    const { code, stdout } = result
    process.stderr.write(`$ ${commands}${stdout}`)
    if (!isExpected(result)) return `${commands}ended with ${code}:\n${stdout}`
    outputs.set(name, shortenOutput(normalizeOutput(stdout)))
    return undefined
  }

  async function writeTutorialFile({ name, content }: TutorialFile): Promise<undefined> {
    await writeFile(join(directory, name), content)
  }

  test.each(steps)('$kind $name', { timeout: commandMs + settleMs }, async (step) => {
    const problem = await (step.kind === 'run' ? runStep(step) : writeTutorialFile(step))
    expect(problem).toBeUndefined()
  })

  test('the outputs replace those of the page', async () => {
    const recorded = replaceOutputs(markdown, outputs)
    expect(parseTutorial(recorded).map(({ name }) => name)).toEqual(steps.map(({ name }) => name))
    await writeFile(page, recorded)
  })
})
