import type { Argv } from '../../../kit/command.ts'
import type { ExecResult, Remote } from '../../../ssh/remote.ts'

/** Renders sections as the host script prints them. Keys are kind and name. */
export function renderSections(sections: Readonly<Record<string, string>>): string {
  return Object.entries(sections)
    .map(([head, text]) => `=== ${head}\n${Buffer.from(text).toString('base64')}\n`)
    .join('')
}

export interface FakeRemote {
  readonly remote: Remote
  /** Commands that were run. The script is shortened. */
  readonly commands: readonly string[]
}

/** Creates a host that answers programs with fixed outputs. Other programs fail. */
export function createFakeRemote(outputs: Readonly<Record<string, string>>): FakeRemote {
  const commands: string[] = []
  const refuse = async (): Promise<never> => Promise.reject(new Error('an adoption only reads'))
  const exec = async (argv: Argv): Promise<ExecResult> => {
    commands.push(argv.map((word) => (word.includes('\n') ? 'SCRIPT' : word)).join(' '))
    const stdout = outputs[argv[0]]
    return {
      code: stdout === undefined ? 1 : 0,
      stdout: stdout ?? '',
      stderr: '',
      bytes: Buffer.from(stdout ?? ''),
    }
  }
  return {
    remote: {
      host: '10.0.0.4',
      exec,
      open: refuse,
      upload: refuse,
      dial: refuse,
      close: async () => undefined,
    },
    commands,
  }
}
