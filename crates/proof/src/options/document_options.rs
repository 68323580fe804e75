//! The common options of the commands that keep results in a document.

use std::path::PathBuf;

use clap::Args;
use program::failure::Failure;
use report::Marks;

use crate::files::document::Document;

/// The document for the results.
#[derive(Debug, Args)]
pub struct DocumentOptions {
    /// Replace the results in this document, between `<!-- NAME: begin -->` and `<!-- NAME: end -->` with this command's name
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Compare the results with those in the document of --document, and leave it as it is. The exit code is 0 if they are
    /// the same, and 1 if they differ
    #[arg(long, requires = "document")]
    check: bool,
}

impl DocumentOptions {
    /// Whether a document was requested.
    pub fn is_asked(&self) -> bool {
        self.document.is_some()
    }

    /// The document, if one was requested. Checks before the work that it has a section with these marks.
    pub fn document(&self, marks: Marks) -> Result<Option<Document<'_>>, Failure> {
        Document::asked_or_compared(self.document.as_deref(), marks, self.check)
    }
}
