/** Returns the section of a version from CHANGELOG.md. A test release gets the section "Unreleased". */
export function extractReleaseNotes(changelog: string, version: string, allowUnreleased: boolean): string {
  const sections = changelog.split(/^## /m).slice(1)
  const find = (title: string) =>
    sections.find((section) => section.startsWith(`${title}\n`) || section.startsWith(`${title} `))
  const section = find(version) ?? (allowUnreleased ? find('Unreleased') : undefined)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`)
  return `# hyperkube ${version}${section.slice(section.indexOf('\n'))}`
}
