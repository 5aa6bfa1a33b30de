import type { FactSource } from '../source.ts'
import { readMissingCapabilities } from './capabilities.ts'

/** Modules that the kernel has, or would load on demand. */
export interface KernelModules {
  /** Whether any module can be loaded. */
  readonly loadable: boolean
  readonly has: (name: string) => Promise<boolean>
}

export async function readKernelModules(source: FactSource, release: string): Promise<KernelModules> {
  const { readFile, exists } = source
  const [builtin, onDisk, refused, supported, locked, missing] = await Promise.all([
    readFile(`/lib/modules/${release}/modules.builtin`),
    readFile(`/lib/modules/${release}/modules.dep`),
    readRefusedModules(source),
    exists('/proc/modules'),
    readFile('/proc/sys/kernel/modules_disabled'),
    readMissingCapabilities(source),
  ])
  const builtinNames = parseModuleNames(builtin ?? '')
  const loadableNames = parseModuleNames(onDisk ?? '')
  const loadable =
    supported && loadableNames.size > 0 && locked?.trim() !== '1' && !missing.includes('CAP_SYS_MODULE')
  return {
    loadable,
    has: async (name) =>
      builtinNames.has(name) ||
      (loadable && loadableNames.has(name) && !refused.has(name)) ||
      // Loaded modules, and built-in modules that have parameters.
      exists(`/sys/module/${name}`),
  }
}

/**
 * Parses modules.builtin and modules.dep: one path per line, followed in modules.dep by a colon and the
 * dependencies.
 */
export function parseModuleNames(text: string): ReadonlySet<string> {
  const names = text.matchAll(/^[^:\n]*?([^/:\n]+)\.ko(?:\.\w+)?(?=:|$)/gm)
  return new Set([...names].map(([, name = '']) => normalizeModuleName(name)))
}

const directories = [
  '/etc/modprobe.d',
  '/run/modprobe.d',
  '/usr/local/lib/modprobe.d',
  '/usr/lib/modprobe.d',
  '/lib/modprobe.d',
]

/** Modules that hardened hosts refuse to load. */
async function readRefusedModules({ listDirectory, readFile }: FactSource): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    directories.map(async (path) =>
      (await listDirectory(path)).filter((name) => name.endsWith('.conf')).map((name) => `${path}/${name}`),
    ),
  )
  const texts = await Promise.all(names.flat().map(readFile))
  return parseRefusedModules(texts.map((text) => text ?? '').join('\n'))
}

/** Parses modprobe settings for modules whose install command does nothing. */
export function parseRefusedModules(text: string): ReadonlySet<string> {
  const lines = text.matchAll(/^\s*install\s+(\S+)\s+(?:\/usr)?\/bin\/(?:true|false)\b/gm)
  return new Set([...lines].map(([, name = '']) => normalizeModuleName(name)))
}

/** The kernel treats dashes and underscores as equal. */
function normalizeModuleName(name: string): string {
  return name.replaceAll('-', '_')
}
