import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type UpstreamArtifact, upstreamArtifacts } from '../../src/catalog/artifacts.ts'
import { findKubernetesRelease } from '../../src/catalog/catalog.ts'
import { shippedCatalog } from '../../src/catalog/shipped-catalog.ts'
import { runProgram } from '../../src/kit/command.ts'

/** Files in the archive of each component (key: component name). */
const archiveMembers: Readonly<Record<string, readonly string[]>> = {
  containerd: ['bin/containerd.exe', 'bin/ctr.exe', 'bin/containerd-shim-runhcs-v1.exe'],
  'cni-plugins': ['host-local.exe', 'win-overlay.exe'],
  shawl: ['shawl.exe'],
}

/**
 * Writes placeholders for the Windows files of upstream, in the directory layout of a mirror. The files are
 * never executed, and building the real ones would take too long.
 */
export async function writePlaceholderArtifacts(
  directory: string,
  kubernetes: readonly string[],
): Promise<void> {
  for (const version of kubernetes) {
    const release = findKubernetesRelease(shippedCatalog, version.replace(/^v/, ''))
    for (const artifact of upstreamArtifacts(release, { os: 'windows', arch: 'amd64' }))
      await writeArtifact(directory, artifact)
  }
}

async function writeArtifact(directory: string, artifact: UpstreamArtifact): Promise<void> {
  const bytes = await buildArtifactBytes(artifact)
  await writeUrlFile(directory, artifact.url, bytes)
  if (artifact.checksum === undefined) return
  const digest = createHash('sha256').update(bytes).digest('hex')
  const { url, format } = artifact.checksum
  await writeUrlFile(directory, url, format === 'bare' ? digest : `${digest}  ${basename(artifact.url)}\n`)
}

async function writeUrlFile(directory: string, url: string, content: string | Uint8Array): Promise<void> {
  const { host, pathname } = new URL(url)
  const file = join(directory, host, pathname)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

async function buildArtifactBytes({ component, version }: UpstreamArtifact): Promise<Uint8Array> {
  const members = archiveMembers[component]
  if (members === undefined) return Buffer.from(`the program ${component} ${version}`)
  const work = await mkdtemp(join(tmpdir(), 'stand-in-'))
  try {
    for (const member of members) {
      await mkdir(dirname(join(work, member)), { recursive: true })
      await writeFile(join(work, member), `${member} of ${component} ${version}`)
    }
    const archive = join(work, 'archive')
    await runProgram([
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
