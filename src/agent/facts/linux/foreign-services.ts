import type { Fact } from './fact.ts'
import { readUnitFiles } from './unit-files.ts'

/** Names of the services that hyperkube creates. */
const hyperkubeServices = [
  'apiserver-proxy',
  'containerd',
  'etcd',
  'flanneld',
  'hyperkube-agent',
  'hyperkube-controller-manager',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubelet',
].map((name) => `${name}.service`)

/** Directory of all programs of hyperkube. A service that starts a program elsewhere is foreign. */
const programDirectory = '/opt/hyperkube/'

export const readForeignServices: Fact<'foreignServices'> = async (source) => {
  const unitFiles = await readUnitFiles(source, hyperkubeServices)
  return hyperkubeServices.filter((name) => isForeign(unitFiles.get(name)))
}

/**
 * True if a unit exists that starts no program of hyperkube. Drop-ins without a unit count only if they start
 * a foreign program.
 */
function isForeign(
  found: { readonly unit?: string; readonly dropIns: readonly string[] } | undefined,
): boolean {
  if (found === undefined) return false
  const { unit, dropIns } = found
  const program = findStartedProgram([unit ?? '', ...dropIns])
  if (program === undefined) return unit !== undefined
  return !program.startsWith(programDirectory)
}

/**
 * Finds the program that a service starts, from its unit and its drop-ins in systemd's order. An empty
 * ExecStart clears the earlier ones.
 */
export function findStartedProgram(texts: readonly string[]): string | undefined {
  const commands: string[] = []
  for (const text of texts) {
    for (const command of text.replaceAll('\\\n', ' ').matchAll(/^\s*ExecStart\s*=(.*)$/gm)) {
      const value = (command[1] ?? '').trim()
      if (value === '') commands.length = 0
      else commands.push(value)
    }
  }
  return commands[0] === undefined ? undefined : parseProgram(commands[0])
}

/** Returns the program of an ExecStart command, without systemd's prefix characters and quotes. */
function parseProgram(command: string): string {
  const [, quoted, plain = ''] = /^[-@:+!|]*(?:"([^"]*)"|(\S+))/.exec(command) ?? []
  return quoted ?? plain
}
