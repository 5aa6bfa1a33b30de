import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type UpstreamArtifact, upstreamArtifacts } from '../../src/catalog/artifacts.ts'
import { catalogFor } from '../../src/catalog/catalog.ts'
import { run } from '../../src/kit/command.ts'

/** What is in archives, by the name of the component. */
const archives: Readonly<Record<string, readonly string[]>> = {
  containerd: ['bin/containerd.exe', 'bin/ctr.exe', 'bin/containerd-shim-runhcs-v1.exe'],
  'cni-plugins': ['host-local.exe', 'win-overlay.exe'],
  shawl: ['shawl.exe'],
}

/**
 * Files in the place of upstream's for Windows, laid out as a mirror has them: nobody runs them, and to build them takes
 * longer than all else of a suite.
 */
export async function layStandIns(directory: string, kubernetes: readonly string[]): Promise<void> {
  for (const version of kubernetes) {
    const release = catalogFor(version.replace(/^v/, ''))
    for (const artifact of upstreamArtifacts(release, { os: 'windows', arch: 'amd64' }))
      await lay(directory, artifact)
  }
}

async function lay(directory: string, artifact: UpstreamArtifact): Promise<void> {
  const bytes = await bytesOf(artifact)
  await put(directory, artifact.url, bytes)
  if (artifact.checksum === undefined) return
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { url, format } = artifact.checksum
  await put(directory, url, format === 'bare' ? digest : `${digest}  ${basename(artifact.url)}\n`)
}

async function put(directory: string, url: string, content: string | Uint8Array): Promise<void> {
  const { host, pathname } = new URL(url)
  const file = join(directory, host, pathname)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

async function bytesOf({ component, version }: UpstreamArtifact): Promise<Uint8Array> {
  const members = archives[component]
  if (members === undefined) return Buffer.from(`the program ${component} ${version}`)
  const work = await mkdtemp(join(tmpdir(), 'stand-in-'))
  try {
    for (const member of members) {
      await mkdir(dirname(join(work, member)), { recursive: true })
      await writeFile(join(work, member), `${member} of ${component} ${version}`)
    }
    const archive = join(work, 'archive')
    await run([
      'tar',
      '-czf',
      archive,
      '-C',
      work,
      ...new Set(members.map((one) => one.split('/')[0] ?? one)),
    ])
    return await readFile(archive)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
