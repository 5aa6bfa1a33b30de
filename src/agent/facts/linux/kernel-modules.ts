import type { FactSource } from '../source.ts'
import { readMissingCapabilities } from './capabilities.ts'

/** Modules that the kernel contains or can load. */
export interface KernelModules {
  /** True if the kernel can load modules at all. */
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
      // This directory exists for loaded modules, and for built-in modules that have parameters.
      exists(`/sys/module/${name}`),
  }
}

/**
 * Parses the module names in modules.builtin or modules.dep. Each line is a path; in modules.dep a colon and
 * dependencies follow.
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

/** Reads which modules the modprobe configuration refuses to load. Hardened hosts have such entries. */
async function readRefusedModules({ listDirectory, readFile }: FactSource): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    directories.map(async (path) =>
      (await listDirectory(path)).filter((name) => name.endsWith('.conf')).map((name) => `${path}/${name}`),
    ),
  )
  const texts = await Promise.all(names.flat().map(readFile))
  return parseRefusedModules(texts.map((text) => text ?? '').join('\n'))
}

/** Finds modules whose modprobe install command is `true` or `false`, so that they are never loaded. */
export function parseRefusedModules(text: string): ReadonlySet<string> {
  const lines = text.matchAll(/^\s*install\s+(\S+)\s+(?:\/usr)?\/bin\/(?:true|false)\b/gm)
  return new Set([...lines].map(([, name = '']) => normalizeModuleName(name)))
}

/** Replaces dashes with underscores, because the kernel treats both as equal in module names. */
function normalizeModuleName(name: string): string {
  return name.replaceAll('-', '_')
}
