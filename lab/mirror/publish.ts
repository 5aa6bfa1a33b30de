import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { keep, recipeDigest } from '../cache.ts'
import type { BuiltPart } from '../components/build.ts'
import { partId } from '../components/parts.ts'
import { programFile } from '../components/recipe.ts'
import type { Report } from '../report.ts'
import { sha256, writeImage } from './oci-archive.ts'
import { plainTar } from './reproducible-tar.ts'
import { type Publication, publicationsOf } from './publication.ts'

/** Changes when the bytes of a publication change though the list of them does not. */
const format = 2

/** Lays out what a built part publishes, once; answers with the directory to serve. */
export async function publish(built: BuiltPart, cache: string, report: Report): Promise<string> {
  const publications = publicationsOf(built.part, built.arch)
  const recipe = JSON.stringify([format, basename(built.directory), publications])
  const key = recipeDigest(recipe)
  const name = `${partId(built.part)}-${built.arch}-${key}`
  return keep(join(cache, 'mirror', name), async (unfinished) => {
    await report.step(`publish ${partId(built.part)}`, async (note) => {
      for (const publication of publications) {
        note(publication.path)
        await write(publication, built, unfinished)
      }
    })
  })
}

async function write(publication: Publication, built: BuiltPart, root: string): Promise<void> {
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
      const digest = await sha256(join(root, publication.of))
      const mark = {
        bare: '',
        line: `  ${basename(publication.of)}\n`,
        binary: ` *${basename(publication.of)}\n`,
      }
      await writeFile(target, digest + mark[publication.style])
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
    await run(['tar', '--dereference', ...plainTar, '-I', 'gzip -1 -n', '-C', tree, '-cf', target, ...names])
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

function programPath(built: BuiltPart, name: string): string {
  const program = built.part.programs.find((one) => one.name === name)
  if (program === undefined) throw new Error(`${partId(built.part)} has no program ${name}`)
  return join(built.directory, programFile(built.part, program))
}
