import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/**
 * Rooms from which each room may import. A room is a folder of src/, or one of lab, lab/windows, test and
 * scripts. A new folder needs a row here, and a line in docs/architecture.md.
 */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'src/kit': [],
  'src/contract': ['src/kit'],
  'src/spec': ['src/contract', 'src/kit'],
  'src/pki': ['src/contract', 'src/kit'],
  'src/identity': ['src/pki', 'src/contract', 'src/kit'],
  'src/catalog': ['src/contract', 'src/kit'],
  'src/bundle': ['src/catalog', 'src/contract', 'src/kit'],
  'src/snapshot': ['src/bundle', 'src/etcd', 'src/contract', 'src/kit'],
  'src/error-codes': ['src/contract', 'src/kit'],
  'src/conformance': ['src/contract', 'src/kit'],
  'src/plan': ['src/catalog', 'src/spec', 'src/identity', 'src/pki', 'src/contract', 'src/kit'],
  'src/diff': ['src/contract', 'src/kit'],
  'src/rollout': ['src/plan', 'src/diff', 'src/contract', 'src/kit'],
  'src/proxy': ['src/contract', 'src/kit'],
  'src/kube': ['src/contract', 'src/kit'],
  'src/etcd': ['src/contract', 'src/kit'],
  'src/addons': ['src/kube', 'src/catalog', 'src/spec', 'src/contract', 'src/kit'],
  'src/agent': ['src/snapshot', 'src/pki', 'src/kube', 'src/etcd', 'src/diff', 'src/contract', 'src/kit'],
  'src/manager': ['src/kube', 'src/etcd', 'src/addons', 'src/pki', 'src/contract', 'src/kit'],
  'src/ssh': ['src/identity', 'src/contract', 'src/kit'],
  'src/lifecycle': [
    'src/rollout',
    'src/diff',
    'src/plan',
    'src/ssh',
    'src/addons',
    'src/kube',
    'src/etcd',
    'src/identity',
    'src/pki',
    'src/bundle',
    'src/catalog',
    'src/spec',
    'src/contract',
    'src/kit',
  ],
  'src/cli': [
    'src/lifecycle',
    'src/ssh',
    'src/agent',
    'src/manager',
    'src/conformance',
    'src/error-codes',
    'src/addons',
    'src/proxy',
    'src/rollout',
    'src/diff',
    'src/plan',
    'src/snapshot',
    'src/etcd',
    'src/bundle',
    'src/catalog',
    'src/identity',
    'src/pki',
    'src/spec',
    'src/contract',
    'src/kit',
    'package.json',
  ],
  src: ['src/cli', 'src/bundle', 'src/catalog', 'src/kit'],
  lab: ['scripts', 'src/kit'],
  // The Windows simulator runs the real agent.
  'lab/windows': ['lab', 'scripts', 'src/agent', 'src/pki', 'src/catalog', 'src/contract', 'src/kit'],
  test: [
    'lab',
    'lab/windows',
    'scripts',
    'src/agent',
    'src/lifecycle',
    'src/manager',
    'src/ssh',
    'src/identity',
    'src/pki',
    'src/conformance',
    'src/kube',
    'src/snapshot',
    'src/etcd',
    'src/contract',
    'src/kit',
  ],
  scripts: ['src/error-codes', 'src/manager', 'src/spec', 'src/kit', 'package.json'],
}

/** Additional rooms from which tests of a room may import. The Windows simulator belongs to the lab. */
const allowedTestImports: Readonly<Record<string, readonly string[]>> = {
  'src/agent': ['lab/windows'],
  'src/cli': ['lab/windows'],
}

/** Returns the room of a file: its first folder, or in src/ its first two. lab/windows is a separate room. */
export function findRoom(file: string): string {
  const [first = '', second = ''] = file.split('/')
  if (first === 'lab' && second === 'windows') return 'lab/windows'
  return first === 'src' && !second.endsWith('.ts') ? `${first}/${second}` : first
}

/** The relative imports of a module's text, as paths from the root. */
export function listImports(file: string, text: string): string[] {
  const specifiers = text.matchAll(
    /(?:^(?:import|export|\})[^'"\n]*\sfrom\s+|^import\s+|\bimport\()['"](\.{1,2}\/[^'"]+)['"]/gm,
  )
  return [...specifiers].map(([, specifier = '']) => normalize(join(dirname(file), specifier)))
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

/** Lists imports that the tables above do not allow, as messages. */
export function findWrongImports(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) => {
    const room = findRoom(file)
    const allowed = isTest(file)
      ? [...(allowedImports[room] ?? []), ...(allowedTestImports[room] ?? [])]
      : allowedImports[room]
    if (allowed === undefined) return [`${file}: the room ${room} has no row in scripts/arrows.ts`]
    return listImports(file, text)
      .map(findRoom)
      .filter((target) => target !== room && !allowed.includes(target))
      .map((target) => `${file}: ${room} may not import from ${target}`)
  })
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const paths = globSync('{src,lab,test,scripts}/**/*.ts', { cwd: root })
  const files = new Map(paths.map((path) => [relative('.', path), readFileSync(join(root, path), 'utf8')]))
  const wrong = findWrongImports(files)
  for (const line of wrong) process.stderr.write(`${line}\n`)
  process.stderr.write(`arrows: ${files.size} files, ${wrong.length} wrong\n`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}
