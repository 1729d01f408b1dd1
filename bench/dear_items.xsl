<!-- Of each 500th item, how many of its kind are dear: each is looked for in the whole document. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text"/>
  <xsl:template match="/">
    <xsl:for-each select="//item[position() mod 500 = 1]">
      <xsl:variable name="kind" select="@cat"/>
      <xsl:value-of select="concat(@id, ' ', count(//item[@cat = $kind and price &gt; 500]), ' ')"/>
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
