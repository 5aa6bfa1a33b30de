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
  'src/fleet': ['src/spec', 'src/contract', 'src/kit'],
  'src/pki': ['src/contract', 'src/kit'],
  'src/identity': ['src/pki', 'src/contract', 'src/kit'],
  'src/catalog': ['src/contract', 'src/kit'],
  'src/bundle': ['src/catalog', 'src/contract', 'src/kit'],
  'src/snapshot': ['src/bundle', 'src/etcd', 'src/contract', 'src/kit'],
  'src/error-codes': ['src/contract', 'src/kit'],
  'src/conformance': ['src/contract', 'src/kit'],
  'src/plan': ['src/catalog', 'src/spec', 'src/identity', 'src/pki', 'src/contract', 'src/kit'],
  'src/diff': ['src/contract', 'src/kit'],
  'src/rollout': ['src/plan', 'src/diff', 'src/catalog', 'src/contract', 'src/kit'],
  'src/proxy': ['src/contract', 'src/kit'],
  'src/kube': ['src/contract', 'src/kit'],
  'src/etcd': ['src/contract', 'src/kit'],
  'src/ui': ['src/contract', 'src/kit'],
  'src/addons': ['src/kube', 'src/catalog', 'src/spec', 'src/contract', 'src/kit'],
  'src/rehearsal': ['src/snapshot', 'src/kube', 'src/diff', 'src/pki', 'src/contract', 'src/kit'],
  'src/agent': ['src/snapshot', 'src/pki', 'src/kube', 'src/etcd', 'src/diff', 'src/contract', 'src/kit'],
  'src/manager': ['src/kube', 'src/etcd', 'src/addons', 'src/fleet', 'src/pki', 'src/contract', 'src/kit'],
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
  'src/workspace': [
    'src/lifecycle',
    'src/manager',
    'src/ssh',
    'src/addons',
    'src/etcd',
    'src/bundle',
    'src/catalog',
    'src/identity',
    'src/spec',
    'src/contract',
    'src/kit',
    'package.json',
  ],
  'src/actions': [
    'src/workspace',
    'src/lifecycle',
    'src/manager',
    'src/ssh',
    'src/snapshot',
    'src/kube',
    'src/etcd',
    'src/plan',
    'src/catalog',
    'src/identity',
    'src/spec',
    'src/contract',
    'src/kit',
  ],
  'src/cli': [
    'src/actions',
    'src/workspace',
    'src/lifecycle',
    'src/ssh',
    'src/agent',
    'src/manager',
    'src/conformance',
    'src/error-codes',
    'src/fleet',
    'src/addons',
    'src/proxy',
    'src/ui',
    'src/rollout',
    'src/diff',
    'src/plan',
    'src/rehearsal',
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
  'src/sdk': [
    'src/cli',
    'src/actions',
    'src/workspace',
    'src/lifecycle',
    'src/error-codes',
    'src/rollout',
    'src/kube',
    'src/catalog',
    'src/identity',
    'src/spec',
    'src/contract',
    'src/kit',
    'package.json',
  ],
  src: ['src/cli', 'src/kit'],
  lab: ['scripts', 'src/kit'],
  // The Windows simulator runs the real agent.
  'lab/windows': ['lab', 'scripts', 'src/agent', 'src/pki', 'src/catalog', 'src/contract', 'src/kit'],
  test: [
    'examples',
    'lab',
    'lab/windows',
    'scripts',
    'src/agent',
    'src/lifecycle',
    'src/manager',
    'src/fleet',
    'src/diff',
    'src/plan',
    'src/ssh',
    'src/identity',
    'src/pki',
    'src/conformance',
    'src/catalog',
    'src/sdk',
    'src/kube',
    'src/rehearsal',
    'src/snapshot',
    'src/etcd',
    'src/ui',
    'src/contract',
    'src/kit',
    'package.json',
  ],
  scripts: [
    'src/cli',
    'src/agent',
    'src/plan',
    'src/catalog',
    'src/contract',
    'src/error-codes',
    'src/manager',
    'src/spec',
    'src/ui',
    'src/kit',
    'package.json',
  ],
}

/**
 * Lists the folders from which each subfolder of a large top-level folder (room) may import. No two
 * subfolders may import each other. Files directly in a room may import from the folders in the row of the
 * room.
 */
const allowedFolderImports: Readonly<Record<string, readonly string[]>> = {
  'src/actions': ['src/actions/phases'],
  'src/actions/phases': [],
  'src/agent/apply': [
    'src/agent/host',
    'src/agent/records',
    'src/agent/resources',
    'src/agent/windows-worker',
  ],
  'src/agent/auto-rollback': [
    'src/agent/apply',
    'src/agent/host',
    'src/agent/operator-lock',
    'src/agent/records',
    'src/agent/runs',
  ],
  'src/agent/etcd-data': ['src/agent/host', 'src/agent/records', 'src/agent/reset'],
  'src/agent/facts': ['src/agent/host'],
  'src/agent/heal': [
    'src/agent/apply',
    'src/agent/host',
    'src/agent/network-probe',
    'src/agent/operator-lock',
    'src/agent/records',
    'src/agent/renewal',
    'src/agent/resources',
    'src/agent/runs',
    'src/agent/windows-worker',
  ],
  'src/agent/host': [],
  'src/agent/host-call': [
    'src/agent/heal',
    'src/agent/host',
    'src/agent/records',
    'src/agent/resources',
    'src/agent/server',
  ],
  'src/agent/host-resource': [
    'src/agent/heal',
    'src/agent/host',
    'src/agent/operator-lock',
    'src/agent/records',
    'src/agent/renewal',
    'src/agent/resources',
    'src/agent/runs',
  ],
  'src/agent/network-probe': [],
  'src/agent/operator-lock': ['src/agent/host', 'src/agent/runs'],
  'src/agent/platform': [
    'src/agent/apply',
    'src/agent/auto-rollback',
    'src/agent/etcd-data',
    'src/agent/facts',
    'src/agent/heal',
    'src/agent/host',
    'src/agent/operator-lock',
    'src/agent/records',
    'src/agent/renewal',
    'src/agent/reset',
    'src/agent/runs',
    'src/agent/windows-worker',
  ],
  'src/agent/records': ['src/agent/host'],
  'src/agent/renewal': [
    'src/agent/apply',
    'src/agent/host',
    'src/agent/operator-lock',
    'src/agent/records',
    'src/agent/resources',
    'src/agent/runs',
  ],
  'src/agent/reset': ['src/agent/apply', 'src/agent/host', 'src/agent/records', 'src/agent/resources'],
  'src/agent/resources': ['src/agent/host', 'src/agent/records', 'src/agent/windows-worker'],
  'src/agent/runs': ['src/agent/host', 'src/agent/records'],
  'src/agent/server': [
    'src/agent/heal',
    'src/agent/host',
    'src/agent/network-probe',
    'src/agent/operator-lock',
    'src/agent/runs',
  ],
  'src/agent/windows-worker': ['src/agent/host'],
  'src/lifecycle/addons': ['src/lifecycle/inputs'],
  'src/lifecycle/adoption': [],
  'src/lifecycle/agents': [],
  'src/lifecycle/cluster-client': [
    'src/lifecycle/addons',
    'src/lifecycle/cluster-objects',
    'src/lifecycle/drain',
    'src/lifecycle/etcd',
    'src/lifecycle/inputs',
    'src/lifecycle/smoke-test',
  ],
  'src/lifecycle/cluster-objects': ['src/lifecycle/inputs'],
  'src/lifecycle/doctor': ['src/lifecycle/cluster-objects', 'src/lifecycle/inputs', 'src/lifecycle/observe'],
  'src/lifecycle/drain': ['src/lifecycle/cluster-objects', 'src/lifecycle/smoke-test'],
  'src/lifecycle/eject': [],
  'src/lifecycle/etcd': ['src/lifecycle/agents', 'src/lifecycle/inputs'],
  'src/lifecycle/execute': [
    'src/lifecycle/addons',
    'src/lifecycle/agents',
    'src/lifecycle/cluster-client',
    'src/lifecycle/drain',
    'src/lifecycle/etcd',
    'src/lifecycle/inputs',
    'src/lifecycle/proposal',
    'src/lifecycle/provisional',
    'src/lifecycle/smoke-test',
  ],
  'src/lifecycle/inputs': [],
  'src/lifecycle/key-rotation': [],
  'src/lifecycle/logs': ['src/lifecycle/agents'],
  'src/lifecycle/observe': [
    'src/lifecycle/agents',
    'src/lifecycle/cluster-client',
    'src/lifecycle/cluster-objects',
    'src/lifecycle/inputs',
    'src/lifecycle/logs',
  ],
  'src/lifecycle/preflight': ['src/lifecycle/agents'],
  'src/lifecycle/proposal': [
    'src/lifecycle/addons',
    'src/lifecycle/agents',
    'src/lifecycle/cluster-client',
    'src/lifecycle/cluster-objects',
    'src/lifecycle/etcd',
    'src/lifecycle/inputs',
    'src/lifecycle/preflight',
  ],
  'src/lifecycle/provisional': [
    'src/lifecycle/addons',
    'src/lifecycle/agents',
    'src/lifecycle/cluster-objects',
    'src/lifecycle/inputs',
    'src/lifecycle/proposal',
  ],
  'src/lifecycle/smoke-test': ['src/lifecycle/agents'],
  'src/lifecycle/status': [
    'src/lifecycle/cluster-client',
    'src/lifecycle/cluster-objects',
    'src/lifecycle/etcd',
    'src/lifecycle/inputs',
    'src/lifecycle/observe',
  ],
  'src/lifecycle/support-bundle': ['src/lifecycle/agents', 'src/lifecycle/logs'],
  'src/cli': ['src/cli/command', 'src/cli/commands'],
  'src/cli/addon': ['src/cli/command', 'src/cli/run'],
  'src/cli/adopt': ['src/cli/command', 'src/cli/init', 'src/cli/run', 'src/cli/up'],
  'src/cli/certs': ['src/cli/command', 'src/cli/run', 'src/cli/up'],
  'src/cli/command': [],
  'src/cli/commands': [
    'src/cli/addon',
    'src/cli/adopt',
    'src/cli/certs',
    'src/cli/command',
    'src/cli/completion',
    'src/cli/conformance',
    'src/cli/doctor',
    'src/cli/environment',
    'src/cli/etcd',
    'src/cli/fleet',
    'src/cli/heal',
    'src/cli/html',
    'src/cli/init',
    'src/cli/kubectl',
    'src/cli/logs',
    'src/cli/node',
    'src/cli/plan',
    'src/cli/proxy',
    'src/cli/render',
    'src/cli/run',
    'src/cli/status',
    'src/cli/support-bundle',
    'src/cli/text',
    'src/cli/ui',
    'src/cli/up',
    'src/cli/upgrade',
    'src/cli/version',
    'src/cli/windows',
  ],
  'src/cli/completion': ['src/cli/addon', 'src/cli/command'],
  'src/cli/conformance': ['src/cli/command', 'src/cli/environment', 'src/cli/proxy', 'src/cli/render'],
  'src/cli/doctor': ['src/cli/command'],
  'src/cli/environment': ['src/cli/command'],
  'src/cli/etcd': ['src/cli/command', 'src/cli/environment', 'src/cli/render', 'src/cli/run', 'src/cli/up'],
  'src/cli/fleet': [
    'src/cli/command',
    'src/cli/etcd',
    'src/cli/render',
    'src/cli/run',
    'src/cli/status',
    'src/cli/text',
    'src/cli/up',
    'src/cli/upgrade',
  ],
  'src/cli/heal': ['src/cli/command'],
  'src/cli/html': ['src/cli/text'],
  'src/cli/init': ['src/cli/command'],
  'src/cli/kubectl': [],
  'src/cli/logs': ['src/cli/command'],
  'src/cli/node': ['src/cli/certs', 'src/cli/command', 'src/cli/run', 'src/cli/status', 'src/cli/up'],
  'src/cli/plan': ['src/cli/command'],
  'src/cli/proxy': ['src/cli/command'],
  'src/cli/render': ['src/cli/command', 'src/cli/text'],
  'src/cli/run': ['src/cli/command', 'src/cli/render', 'src/cli/text'],
  'src/cli/status': ['src/cli/command', 'src/cli/proxy', 'src/cli/render', 'src/cli/text'],
  'src/cli/support-bundle': ['src/cli/command'],
  'src/cli/text': ['src/cli/command'],
  'src/cli/ui': ['src/cli/command', 'src/cli/html', 'src/cli/logs', 'src/cli/text'],
  'src/cli/up': ['src/cli/command', 'src/cli/run', 'src/cli/text'],
  'src/cli/upgrade': [
    'src/cli/command',
    'src/cli/environment',
    'src/cli/etcd',
    'src/cli/render',
    'src/cli/run',
    'src/cli/up',
  ],
  'src/cli/version': ['src/cli/command'],
  'src/cli/windows': [],
}

/** Top-level folders (rooms) whose subfolders have rows in `allowedFolderImports`. */
const dividedRooms = new Set(['src/actions', 'src/agent', 'src/lifecycle', 'src/cli'])

/** Additional top-level folders (rooms) from which the tests of a room may import. */
const allowedTestImports: Readonly<Record<string, readonly string[]>> = {
  'src/agent': ['lab/windows'],
  'src/sdk': ['src/plan'],
  'src/workspace': ['src/plan'],
  'src/cli': ['lab/windows'],
}

/**
 * Returns the top-level folder (room) of a file: the first folder of its path, or the first two in src/.
 * lab/windows is a room too.
 */
export function findRoom(file: string): string {
  const [first = '', second = ''] = file.split('/')
  if (first === 'lab' && second === 'windows') return 'lab/windows'
  return first === 'src' && !second.endsWith('.ts') ? `${first}/${second}` : first
}

/**
 * Returns the subfolder of a file inside a large top-level folder, for example `src/agent/heal`. For a file
 * directly in the top-level folder, returns that folder.
 */
export function findFolder(file: string): string | undefined {
  const room = findRoom(file)
  if (!dividedRooms.has(room)) return undefined
  const [folder = ''] = file.slice(room.length + 1).split('/')
  return folder.endsWith('.ts') ? room : `${room}/${folder}`
}

/** Lists the relative imports of a module as paths from the root of the repository. */
export function listImports(file: string, text: string): string[] {
  const specifiers = text.matchAll(
    /(?:^(?:import|export|\})[^'"\n]*\sfrom\s+|^import\s+|\bimport\()['"](\.{1,2}\/[^'"]+)['"]/gm,
  )
  return [...specifiers].map(([, specifier = '']) => normalize(join(dirname(file), specifier)))
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

/** Returns a message for each import that the tables of allowed imports do not contain. */
export function findWrongImports(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) => [
    ...findWrongRoomImports(file, text),
    ...(isTest(file) ? [] : findWrongFolderImports(file, text)),
  ])
}

function findWrongRoomImports(file: string, text: string): string[] {
  const room = findRoom(file)
  const allowed = isTest(file)
    ? [...(allowedImports[room] ?? []), ...(allowedTestImports[room] ?? [])]
    : allowedImports[room]
  if (allowed === undefined) return [`${file}: the room ${room} has no row in scripts/arrows.ts`]
  return listImports(file, text)
    .map(findRoom)
    .filter((target) => target !== room && !allowed.includes(target))
    .map((target) => `${file}: ${room} may not import from ${target}`)
}

function findWrongFolderImports(file: string, text: string): string[] {
  const folder = findFolder(file)
  if (folder === undefined) return []
  const allowed = allowedFolderImports[folder]
  if (allowed === undefined) return [`${file}: the folder ${folder} has no row in scripts/arrows.ts`]
  return listImports(file, text)
    .filter((target) => findRoom(target) === findRoom(file))
    .flatMap((target) => findFolder(target) ?? [])
    .filter((target) => target !== folder && !allowed.includes(target))
    .map((target) => `${file}: ${folder} may not import from ${target}`)
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
