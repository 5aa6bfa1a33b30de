import { runProgram } from '../../src/kit/command.ts'

/**
 * Packs entries of a directory into a tar archive. The bytes depend only on names, content and execute
 * permission of the files, and on `epoch`.
 */
export async function packTar(
  archive: string,
  directory: string,
  entries: readonly string[],
  epoch: number,
): Promise<void> {
  const normalize = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner']
  await runProgram([
    'tar',
    '--format=gnu',
    ...normalize,
    '--mode=u=rwX,go=rX',
    '-C',
    directory,
    '-cf',
    archive,
    ...entries,
  ])
}
