/** Options of the search box of the site. `scripts/site-search.ts` checks results with the same options. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  /**
   * Ranks guides before long lists with one short section per error code, command or setting. Otherwise these
   * lists would come first, because many of their titles contain words of a query. VitePress sends the text
   * of this function to the browser, so the function must not use anything outside itself.
   */
  boostDocument: (id: string): number => {
    if (/^\/reference\/(?:errors|cli|cluster)#/.test(id) && !/#(?:error-codes|commands|clusteryml)$/.test(id))
      return 0.4
    if (/^\/(?:evidence|contributing|architecture|lab|conformance|windows|explanation\/origins)/.test(id))
      return 0.4
    return id.startsWith('/faq') ? 0.7 : 1
  },
}
