import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { hashFile } from '../../src/kit/files.ts'
import { ensureCached, digestRecipe } from '../cache.ts'
import type { BuiltPart } from '../components/build.ts'
import { formatPartId } from '../components/parts.ts'
import { formatProgramFile } from '../components/recipe.ts'
import type { Report } from '../report.ts'
import { writeImage } from './oci-archive.ts'
import { reproducibleTarFlags } from './reproducible-tar.ts'
import { type Publication, listPublications } from './publication.ts'

/**
 * Format version of the published files, which is part of the cache key. Increase it when the files change
 * although the list of publications stays the same.
 */
const format = 2

/**
 * Writes all files that a mirror serves for an upstream component (part), unless they are cached. Returns the
 * directory to serve.
 */
export async function publish(built: BuiltPart, cache: string, report: Report): Promise<string> {
  const publications = listPublications(built.part, built.arch)
  const recipe = JSON.stringify([format, basename(built.directory), publications])
  const key = digestRecipe(recipe)
  const name = `${formatPartId(built.part)}-${built.arch}-${key}`
  return ensureCached(join(cache, 'mirror', name), async (unfinished) => {
    await report.step(`publish ${formatPartId(built.part)}`, async (note) => {
      for (const publication of publications) {
        note(publication.path)
        await writePublication(publication, built, unfinished)
      }
    })
  })
}

async function writePublication(publication: Publication, built: BuiltPart, root: string): Promise<void> {
  const target = join(root, publication.path)
  await mkdir(dirname(target), { recursive: true })
  switch (publication.kind) {
    case 'file':
      await link(programPath(built, publication.program), target)
      return
    case 'archive':
      await writeArchive(publication.members, built, target)
      return
    case 'image':
      await writeImage(publication.image, built.arch, built.directory, { root, archive: publication.path })
      return
    case 'checksum': {
      const digest = await hashFile(join(root, publication.of))
      const suffixes = {
        bare: '',
        line: `  ${basename(publication.of)}\n`,
        binary: ` *${basename(publication.of)}\n`,
      }
      await writeFile(target, digest + suffixes[publication.style])
    }
  }
}

async function writeArchive(
  members: Readonly<Record<string, string>>,
  built: BuiltPart,
  target: string,
): Promise<void> {
  const tree = await mkdtemp(`${target}.`)
  try {
    for (const [program, member] of Object.entries(members)) {
      await mkdir(dirname(join(tree, member)), { recursive: true })
      await symlink(programPath(built, program), join(tree, member))
    }
    const names = Object.values(members).toSorted()
    await runProgram([
      'tar',
      '--dereference',
      ...reproducibleTarFlags,
      '-I',
      'gzip -1 -n',
      '-C',
      tree,
      '-cf',
      target,
      ...names,
    ])
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

function programPath(built: BuiltPart, name: string): string {
  const program = built.part.programs.find((one) => one.name === name)
  if (program === undefined) throw new Error(`${formatPartId(built.part)} has no program ${name}`)
  return join(built.directory, formatProgramFile(built.part, program))
}
