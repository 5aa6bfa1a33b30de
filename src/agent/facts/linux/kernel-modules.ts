import type { FactSource } from '../source.ts'
import { missingCapabilities } from './capabilities.ts'

/** What the kernel has, or would fetch when asked. */
export interface KernelModules {
  /** Whether any can be loaded. */
  readonly loadable: boolean
  readonly has: (name: string) => Promise<boolean>
}

export async function kernelModules(source: FactSource, release: string): Promise<KernelModules> {
  const { readFile, exists } = source
  const [builtin, onDisk, refused, supported, locked, missing] = await Promise.all([
    readFile(`/lib/modules/${release}/modules.builtin`),
    readFile(`/lib/modules/${release}/modules.dep`),
    refusals(source),
    exists('/proc/modules'),
    readFile('/proc/sys/kernel/modules_disabled'),
    missingCapabilities(source),
  ])
  const inside = moduleNames(builtin ?? '')
  const outside = moduleNames(onDisk ?? '')
  const loadable =
    supported && outside.size > 0 && locked?.trim() !== '1' && !missing.includes('CAP_SYS_MODULE')
  return {
    loadable,
    has: async (name) =>
      inside.has(name) ||
      (loadable && outside.has(name) && !refused.has(name)) ||
      // Those that are loaded, and of those inside the kernel the ones that have something to say.
      exists(`/sys/module/${name}`),
  }
}

/** Of modules.builtin and modules.dep: a path to a line, before the colon that its needs come after. */
export function moduleNames(text: string): ReadonlySet<string> {
  const names = text.matchAll(/^[^:\n]*?([^/:\n]+)\.ko(?:\.\w+)?(?=:|$)/gm)
  return new Set([...names].map(([, name = '']) => underscored(name)))
}

const directories = [
  '/etc/modprobe.d',
  '/run/modprobe.d',
  '/usr/local/lib/modprobe.d',
  '/usr/lib/modprobe.d',
  '/lib/modprobe.d',
]

/** Modules that hardened hosts refuse to load. */
async function refusals({ listDirectory, readFile }: FactSource): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    directories.map(async (path) =>
      (await listDirectory(path)).filter((name) => name.endsWith('.conf')).map((name) => `${path}/${name}`),
    ),
  )
  const texts = await Promise.all(names.flat().map(readFile))
  return refusedModules(texts.map((text) => text ?? '').join('\n'))
}

/** From settings of modprobe: a module that is to be installed by a program which does nothing. */
export function refusedModules(text: string): ReadonlySet<string> {
  const lines = text.matchAll(/^\s*install\s+(\S+)\s+(?:\/usr)?\/bin\/(?:true|false)\b/gm)
  return new Set([...lines].map(([, name = '']) => underscored(name)))
}

/** To the kernel both are one. */
function underscored(name: string): string {
  return name.replaceAll('-', '_')
}
